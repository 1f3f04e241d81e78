import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * A transactional producer that commits a group's offsets for whoever it is told to (KIP-447). A line for each:
 *
 *   name=p1 bootstrap=host:port group=g topic=t offset=5 generation=3 member=m [instance=i]
 *
 * Prints "committed", or the exception's class and text.
 */
public final class ZombieProducer {
    private ZombieProducer() {}

    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Map<String, String> settings = new HashMap<>();
            for (String word : line.trim().split(" ")) {
                String[] pair = word.split("=", 2);
                settings.put(pair[0], pair[1]);
            }
            System.out.println(commit(settings));
            System.out.flush();
        }
    }

    private static String commit(Map<String, String> settings) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", settings.get("bootstrap"));
        properties.put("transactional.id", settings.get("name"));
        properties.put("key.serializer", ByteArraySerializer.class.getName());
        properties.put("value.serializer", ByteArraySerializer.class.getName());
        ConsumerGroupMetadata member = new ConsumerGroupMetadata(
            settings.get("group"),
            Integer.parseInt(settings.get("generation")),
            settings.get("member"),
            Optional.ofNullable(settings.get("instance")));
        TopicPartition partition = new TopicPartition(settings.get("topic"), 0);
        OffsetAndMetadata offset = new OffsetAndMetadata(Long.parseLong(settings.get("offset")));
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(properties)) {
            producer.initTransactions();
            producer.beginTransaction();
            try {
                producer.sendOffsetsToTransaction(Collections.singletonMap(partition, offset), member);
                producer.commitTransaction();
                return "committed";
            } catch (RuntimeException refused) {
                String words = refused.toString().replaceAll("\\p{Cntrl}", " ");
                try {
                    producer.abortTransaction();
                } catch (RuntimeException fenced) {
                    return words + "; then " + fenced.getClass().getSimpleName();
                }
                return words;
            }
        }
    }
}
