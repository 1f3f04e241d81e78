import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Consumers in one process, driven by lines; compiled against kafka-clients 2.4, run with it and with later ones.
 *
 *   start name=c1 bootstrap=host:port group=g topics=a,b strategies=range,sticky session_ms=6000 [instance=i1]
 *   close c1
 *
 * Prints a JSON line for whatever happens to a member, with the nanoseconds of the machine's monotonic clock:
 * assigned, revoked, lost, records, error, closed. The end of standard input closes all.
 */
public final class MemberHost {
    private static final Map<String, Member> MEMBERS = new ConcurrentHashMap<>();

    private MemberHost() {}

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.trim().split(" ");
            if (words[0].equals("start")) {
                Map<String, String> settings = new HashMap<>();
                for (String word : Arrays.asList(words).subList(1, words.length)) {
                    String[] pair = word.split("=", 2);
                    settings.put(pair[0], pair[1]);
                }
                Member member = new Member(settings);
                MEMBERS.put(settings.get("name"), member);
                member.start();
            } else if (words[0].equals("close")) {
                MEMBERS.get(words[1]).ends = true;
            }
        }
        for (Member member : MEMBERS.values()) {
            member.ends = true;
        }
        for (Member member : MEMBERS.values()) {
            member.join(10_000);
        }
        System.exit(0);
    }

    private static synchronized void print(String line) {
        System.out.println(line);
        System.out.flush();
    }

    private static final class Member extends Thread implements ConsumerRebalanceListener {
        volatile boolean ends;
        private final Map<String, String> settings;
        private final Map<TopicPartition, OffsetAndMetadata> consumed = new HashMap<>();
        private KafkaConsumer<byte[], byte[]> consumer;

        Member(Map<String, String> settings) {
            super("member " + settings.get("name"));
            setDaemon(true);
            this.settings = settings;
        }

        @Override
        public void run() {
            try {
                consumer = new KafkaConsumer<>(properties());
                consumer.subscribe(Arrays.asList(settings.get("topics").split(",")), this);
                while (!ends) {
                    poll();
                }
            } catch (RuntimeException failed) {
                tell("error", "\"text\":" + quoted(failed.toString()));
            }
            try {
                consumer.close(Duration.ofSeconds(10));
            } catch (RuntimeException failed) {
                tell("error", "\"text\":" + quoted(failed.toString()));
            }
            tell("closed", "\"partitions\":[]");
        }

        private void poll() {
            ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofMillis(50));
            for (TopicPartition partition : records.partitions()) {
                List<ConsumerRecord<byte[], byte[]>> some = records.records(partition);
                long from = some.get(0).offset();
                long to = some.get(some.size() - 1).offset() + 1;
                consumed.put(partition, new OffsetAndMetadata(to));
                String span = ",\"from\":" + from + ",\"to\":" + to;
                tell("records", "\"partitions\":" + listed(Collections.singletonList(partition)) + span);
            }
            if (!records.isEmpty()) {
                commit();
            }
        }

        private void commit() {
            if (consumed.isEmpty()) {
                return;
            }
            try {
                consumer.commitSync(new LinkedHashMap<>(consumed), Duration.ofSeconds(5));
                tell("committed", "\"text\":" + quoted(consumed.toString()));
                consumed.clear();
            } catch (KafkaException refused) {
                tell("refused", "\"text\":" + quoted(refused.toString()));
            }
        }

        private Properties properties() {
            Properties properties = new Properties();
            properties.put("bootstrap.servers", settings.get("bootstrap"));
            properties.put("group.id", settings.get("group"));
            properties.put("client.id", settings.get("name"));
            properties.put("key.deserializer", ByteArrayDeserializer.class.getName());
            properties.put("value.deserializer", ByteArrayDeserializer.class.getName());
            properties.put("auto.offset.reset", "earliest");
            properties.put("enable.auto.commit", "false");
            properties.put("session.timeout.ms", settings.get("session_ms"));
            properties.put("heartbeat.interval.ms", "200");
            properties.put("max.poll.interval.ms", "30000");
            properties.put("metadata.max.age.ms", "1000");
            properties.put("partition.assignment.strategy", strategies());
            if (settings.containsKey("instance")) {
                properties.put("group.instance.id", settings.get("instance"));
            }
            return properties;
        }

        private String strategies() {
            List<String> classes = new ArrayList<>();
            for (String name : settings.get("strategies").split(",")) {
                String simple = name.equals("range") ? "RangeAssignor"
                    : name.equals("roundrobin") ? "RoundRobinAssignor"
                    : name.equals("sticky") ? "StickyAssignor" : "CooperativeStickyAssignor";
                classes.add("org.apache.kafka.clients.consumer." + simple);
            }
            return String.join(",", classes);
        }

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            tell("assigned", "\"partitions\":" + listed(partitions));
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            commit();
            tell("revoked", "\"partitions\":" + listed(partitions));
        }

        @Override
        public void onPartitionsLost(Collection<TopicPartition> partitions) {
            consumed.clear();
            tell("lost", "\"partitions\":" + listed(partitions));
        }

        private void tell(String event, String rest) {
            print("{\"at\":" + System.nanoTime() + ",\"member\":" + quoted(settings.get("name"))
                + ",\"event\":\"" + event + "\"," + rest + "}");
        }

        private static String listed(Collection<TopicPartition> partitions) {
            List<String> names = new ArrayList<>();
            for (TopicPartition partition : partitions) {
                names.add(quoted(partition.toString()));
            }
            return "[" + String.join(",", names) + "]";
        }

        private static String quoted(String text) {
            return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"").replaceAll("\\p{Cntrl}", " ") + "\"";
        }
    }
}
