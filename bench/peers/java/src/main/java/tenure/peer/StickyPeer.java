package tenure.peer;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;

/** The consumers' sticky classes, called as the leader's ConsumerCoordinator calls them. */
final class StickyPeer implements BenchDriver.Peer {
    private final ConsumerPartitionAssignor assignor;
    private BenchGroup group;
    private Cluster cluster;
    private Map<String, Subscription> decoded;
    private Map<String, ByteBuffer> encoded;

    StickyPeer(String name) {
        assignor = Round.instance(name);
    }

    @Override
    public void load(BenchGroup loaded) {
        group = loaded;
        decoded = null;
        encoded = null;
        Node node = new Node(0, "replica", 9092);
        Node[] replicas = {node};
        List<PartitionInfo> partitions = new ArrayList<>();
        group.topics().forEach((topic, count) -> {
            for (int p = 0; p < count; p++) {
                partitions.add(new PartitionInfo(topic, p, node, replicas, replicas));
            }
        });
        cluster = new Cluster("peer", List.of(node), partitions, Set.of(), Set.of());
    }

    /** The classes read user data to its end and leave it there: the next call must find its beginning. */
    @Override
    public void prepare() {
        if (decoded != null) {
            decoded.values().forEach(subscription -> {
                if (subscription.userData() != null) {
                    subscription.userData().rewind();
                }
            });
        }
    }

    @Override
    public void plan() {
        if (decoded == null) {
            decoded = decode();
        }
        assignor.assign(cluster, new GroupSubscription(decoded));
    }

    @Override
    public void round() {
        // One form at a time: a large group's takes gigabytes.
        decoded = null;
        encoded = null;
        Map<String, Assignment> answer = assignor.assign(cluster, new GroupSubscription(decode())).groupAssignment();
        Map<String, ByteBuffer> bytes = new HashMap<>();
        answer.forEach((member, given) -> bytes.put(member, ConsumerProtocol.serializeAssignment(given)));
        encoded = bytes;
    }

    private Map<String, Subscription> decode() {
        Map<String, Subscription> all = new HashMap<>();
        for (BenchGroup.Member member : group.members()) {
            all.put(member.id(), ConsumerProtocol.deserializeSubscription(ByteBuffer.wrap(member.metadata())));
        }
        return all;
    }

    @Override
    public void write(Path to) throws IOException {
        if (encoded == null) {
            throw new IllegalStateException("no round has been led");
        }
        group.writeBytes(to, encoded);
    }
}
