package tenure.peer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Real consumer groups against a running broker: the argument is host:port, standard input a JSON object.
 *
 * {"topics": {"orders": 6},
 *  "records": {"orders": [0, 3]},                        one record to each of these partitions
 *  "groups": {"g": {"protocol": "classic", "assignor": "range",
 *                   "members": [{"client": "c 1", "topics": ["orders"], "instance": "i1", "ends": "stays"}]}},
 *  "grow": {"orders": 8}}                                 partitions added once the groups stand
 *
 * A member "stays" (polls and commits), "leaves" (commits, then closes) or "stalls" (stops polling once it has an
 * assignment); a "late" one joins after all others stand and is not waited for. With "commits": false it never
 * commits. "protocol" is classic or consumer.
 * Prints "ready" when all stand, then keeps them until standard input ends.
 */
public final class GroupMembers {
    private GroupMembers() {}

    public static void main(String[] args) throws Exception {
        String bootstrap = args[0];
        java.io.BufferedReader in = new java.io.BufferedReader(new java.io.InputStreamReader(System.in));
        JsonNode scene = new ObjectMapper().readTree(in.readLine());
        try (Admin admin = Admin.create(properties(bootstrap))) {
            create(admin, scene.path("topics"));
        }
        produce(bootstrap, scene.path("records"));

        List<Member> members = new ArrayList<>();
        for (Map.Entry<String, JsonNode> group : scene.path("groups").properties()) {
            for (JsonNode member : group.getValue().path("members")) {
                members.add(new Member(bootstrap, group.getKey(), group.getValue(), member));
            }
        }
        start(members, false);
        start(members, true);
        try (Admin admin = Admin.create(properties(bootstrap))) {
            Map<String, NewPartitions> grow = new HashMap<>();
            for (Map.Entry<String, JsonNode> topic : scene.path("grow").properties()) {
                grow.put(topic.getKey(), NewPartitions.increaseTo(topic.getValue().intValue()));
            }
            admin.createPartitions(grow).all().get();
        }
        System.out.println("ready");
        while (in.readLine() != null) {
            // Members stay as long as whoever started this one listens.
        }
        for (Member member : members) {
            member.stop();
        }
    }

    private static void start(List<Member> members, boolean late) throws InterruptedException {
        for (Member member : members) {
            if (member.late == late) {
                member.thread.start();
            }
        }
        for (Member member : members) {
            if (member.late == late && !late && !member.stands.await(60, TimeUnit.SECONDS)) {
                throw new IllegalStateException("a member got no assignment within a minute");
            }
        }
        Thread.sleep(late ? 1500 : 500);
    }

    private static Properties properties(String bootstrap) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", bootstrap);
        return properties;
    }

    private static void create(Admin admin, JsonNode topics) throws InterruptedException, ExecutionException {
        for (Map.Entry<String, JsonNode> topic : topics.properties()) {
            NewTopic created = new NewTopic(topic.getKey(), topic.getValue().intValue(), (short) 1);
            try {
                admin.createTopics(List.of(created)).all().get();
            } catch (ExecutionException failed) {
                if (!(failed.getCause() instanceof TopicExistsException)) {
                    throw failed;
                }
            }
        }
    }

    private static void produce(String bootstrap, JsonNode records) {
        Properties properties = properties(bootstrap);
        properties.put("key.serializer", ByteArraySerializer.class.getName());
        properties.put("value.serializer", ByteArraySerializer.class.getName());
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(properties)) {
            for (Map.Entry<String, JsonNode> topic : records.properties()) {
                for (JsonNode partition : topic.getValue()) {
                    producer.send(new ProducerRecord<>(topic.getKey(), partition.intValue(), null, new byte[] {1}));
                }
            }
            producer.flush();
        }
    }

    private static final class Member {
        /** Polls with an assignment after which a member stands: by then it has read what there was. */
        private static final int POLLS = 8;

        final boolean late;
        final CountDownLatch stands = new CountDownLatch(1);
        final Thread thread;
        private final CountDownLatch ends = new CountDownLatch(1);
        private final Properties properties;
        private final List<String> topics = new ArrayList<>();
        private final String end;
        private final boolean commits;

        Member(String bootstrap, String groupId, JsonNode group, JsonNode member) {
            properties = properties(bootstrap);
            properties.put("group.id", groupId);
            properties.put("key.deserializer", ByteArrayDeserializer.class.getName());
            properties.put("value.deserializer", ByteArrayDeserializer.class.getName());
            properties.put("auto.offset.reset", "earliest");
            properties.put("enable.auto.commit", "false");
            properties.put("group.protocol", group.path("protocol").asText("classic"));
            if (member.has("client")) {
                properties.put("client.id", member.get("client").asText());
            }
            if (member.has("instance")) {
                properties.put("group.instance.id", member.get("instance").asText());
            }
            if (!group.path("protocol").asText("classic").equals("consumer")) {
                String assignor = group.path("assignor").asText("cooperative-sticky");
                properties.put("partition.assignment.strategy", Round.instance(assignor).getClass().getName());
                properties.put("heartbeat.interval.ms", "300");
            }
            member.path("topics").forEach(topic -> topics.add(topic.asText()));
            end = member.path("ends").asText("stays");
            commits = member.path("commits").asBoolean(true);
            late = member.path("late").asBoolean(false);
            thread = new Thread(this::run, "member");
        }

        private void run() {
            try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(properties)) {
                consumer.subscribe(topics);
                int stood = 0;
                while (ends.getCount() > 0) {
                    consumer.poll(Duration.ofMillis(100));
                    // A member beyond the number of partitions stands with nothing.
                    if (!consumer.groupMetadata().memberId().isEmpty() && consumer.groupMetadata().generationId() > 0) {
                        stood++;
                        if (commits) {
                            consumer.commitSync();
                        }
                    }
                    if (stood == POLLS) {
                        stands.countDown();
                        if (end.equals("leaves")) {
                            return;
                        }
                        if (end.equals("stalls")) {
                            ends.await();
                        }
                    }
                }
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
        }

        void stop() throws InterruptedException {
            ends.countDown();
            thread.join(TimeUnit.SECONDS.toMillis(20));
        }
    }
}
