package tenure.peer;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

/** One leader's round: the metadata and subscriptions that a real leader would hand to the class. */
final class Round {
    private final Cluster cluster;
    private final Map<String, Subscription> subscriptions;
    private final String assignor;

    Round(Snapshot snapshot, String assignor) {
        this.assignor = assignor;
        cluster = cluster(snapshot.topics());
        subscriptions = new LinkedHashMap<>();
        snapshot.members().forEach((id, member) -> subscriptions.put(id, subscription(id, member)));
    }

    /**
     * Asks a new instance of the class, as one rebalance does.
     *
     * The classes give their lists in the order in which they chose; the plan is the set of them.
     */
    Map<String, Map<String, TreeSet<Integer>>> plan() {
        Map<String, Assignment> answer = answer();
        Map<String, Map<String, TreeSet<Integer>>> plan = new LinkedHashMap<>();
        for (String member : subscriptions.keySet()) {
            Map<String, TreeSet<Integer>> topics = new LinkedHashMap<>();
            Assignment given = answer.get(member);
            if (given == null) {
                throw new IllegalStateException("the class left member " + member + " out of its answer");
            }
            for (TopicPartition partition : given.partitions()) {
                if (!topics.computeIfAbsent(partition.topic(), t -> new TreeSet<>()).add(partition.partition())) {
                    throw new IllegalStateException("the class gave " + partition + " twice to " + member);
                }
            }
            plan.put(member, topics);
        }
        return plan;
    }

    /** The class's own answer, unconverted: what a bench should time. */
    Map<String, Assignment> answer() {
        GroupSubscription group = new GroupSubscription(new HashMap<>(subscriptions));
        return instance(assignor).assign(cluster, group).groupAssignment();
    }

    static ConsumerPartitionAssignor instance(String assignor) {
        return switch (assignor) {
            case "range" -> new RangeAssignor();
            case "roundrobin" -> new RoundRobinAssignor();
            case "sticky" -> new StickyAssignor();
            case "cooperative-sticky" -> new CooperativeStickyAssignor();
            default -> throw new IllegalArgumentException("no such assignor: " + assignor);
        };
    }

    /** One node for each rack and replica position, so that a rack named twice is two replicas there. */
    private static Cluster cluster(Map<String, Snapshot.Topic> topics) {
        Map<String, Node> nodes = new LinkedHashMap<>();
        Node unplaced = new Node(0, "replica", 9092);
        List<PartitionInfo> partitions = new ArrayList<>();
        topics.forEach((name, topic) -> {
            for (int p = 0; p < topic.partitions(); p++) {
                List<String> racks = topic.racks().isEmpty() ? List.of() : topic.racks().get(p);
                Node[] replicas = new Node[Math.max(1, racks.size())];
                replicas[0] = unplaced;
                for (int r = 0; r < racks.size(); r++) {
                    String rack = racks.get(r);
                    replicas[r] = nodes.computeIfAbsent(
                            r + "/" + rack, k -> new Node(nodes.size() + 1, "replica", 9092, rack));
                }
                partitions.add(new PartitionInfo(name, p, replicas[0], replicas, replicas));
            }
        });
        List<Node> all = new ArrayList<>(nodes.values());
        all.add(unplaced);
        return new Cluster("peer", all, partitions, Set.of(), Set.of());
    }

    /** Encodes history as a member would: the class itself writes the user data that it later reads. */
    private Subscription subscription(String id, Snapshot.Member member) {
        List<TopicPartition> owned = new ArrayList<>();
        member.owned().forEach((topic, all) -> all.forEach(p -> owned.add(new TopicPartition(topic, p))));
        int generation = member.generation().orElse(-1);
        ConsumerPartitionAssignor own = instance(assignor);
        if (!owned.isEmpty() || generation >= 0) {
            own.onAssignment(
                    new Assignment(owned), new ConsumerGroupMetadata("peer", generation, id, member.instance()));
        }
        Subscription subscription = new Subscription(
                member.topics(),
                own.subscriptionUserData(new TreeSet<>(member.topics())),
                own.supportedProtocols().contains(ConsumerPartitionAssignor.RebalanceProtocol.COOPERATIVE)
                        ? owned
                        : List.of(),
                generation,
                member.rack());
        subscription.setGroupInstanceId(member.instance());
        return subscription;
    }
}
