package tenure.peer;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.GroupSpec;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;

/**
 * The broker's uniform assignor, called as its TargetAssignmentBuilder calls it.
 *
 * It works on what the coordinator holds in memory: topics by id, subscriptions resolved, the last target and who has
 * each partition in it. All that is ready before the clock runs. Members' bytes are none of its business, so there is
 * no round.
 */
final class UniformPeer implements BenchDriver.Peer {
    private final UniformAssignor assignor = new UniformAssignor();
    private BenchGroup group;
    private final Map<String, Uuid> ids = new HashMap<>();
    private final Map<Uuid, Integer> positions = new HashMap<>();
    private GroupSpec spec;
    private SubscribedTopicDescriber describer;
    private GroupAssignment answer;

    @Override
    public void load(BenchGroup loaded) {
        group = loaded;
        answer = null;
        ids.clear();
        positions.clear();
        Map<Uuid, Integer> counts = new HashMap<>();
        group.topics().forEach((topic, count) -> {
            Uuid id = Uuid.randomUuid();
            ids.put(topic, id);
            positions.put(id, positions.size());
            counts.put(id, count);
        });
        describer = new Described(counts);
        spec = spec();
    }

    private GroupSpec spec() {
        Map<String, MemberSubscriptionAndAssignmentImpl> members = new HashMap<>();
        Map<Uuid, Map<Integer, String>> owners = new HashMap<>();
        // Members with equal topics share one set, as those of one coordinator may.
        Map<Set<Uuid>, Set<Uuid>> shared = new HashMap<>();
        for (BenchGroup.Member member : group.members()) {
            Subscription subscription =
                    ConsumerProtocol.deserializeSubscription(ByteBuffer.wrap(member.metadata()));
            Set<Uuid> topics = new HashSet<>();
            for (String topic : subscription.topics()) {
                if (ids.containsKey(topic)) {
                    topics.add(ids.get(topic));
                }
            }
            Map<Uuid, Set<Integer>> owned = new HashMap<>();
            for (TopicPartition partition : subscription.ownedPartitions()) {
                Uuid id = ids.get(partition.topic());
                if (id != null) {
                    owned.computeIfAbsent(id, k -> new HashSet<>()).add(partition.partition());
                    owners.computeIfAbsent(id, k -> new HashMap<>()).put(partition.partition(), member.id());
                }
            }
            Set<Uuid> same = shared.computeIfAbsent(topics, k -> k);
            members.put(
                    member.id(),
                    new MemberSubscriptionAndAssignmentImpl(
                            Optional.empty(),
                            Optional.empty(),
                            same,
                            new Assignment(Collections.unmodifiableMap(owned))));
        }
        SubscriptionType type = shared.size() <= 1 ? SubscriptionType.HOMOGENEOUS : SubscriptionType.HETEROGENEOUS;
        return new GroupSpecImpl(members, type, owners);
    }

    @Override
    public void plan() {
        answer = assignor.assign(spec, describer);
    }

    @Override
    public void round() {
        throw new UnsupportedOperationException("the broker's assignor leads no rounds");
    }

    @Override
    public void write(Path to) throws IOException {
        if (answer == null) {
            throw new IllegalStateException("nothing has been planned");
        }
        Map<String, List<int[]>> given = new HashMap<>();
        for (BenchGroup.Member member : group.members()) {
            List<int[]> pairs = new ArrayList<>();
            if (answer.members().containsKey(member.id())) {
                answer.members().get(member.id()).partitions().forEach((topic, partitions) ->
                        partitions.forEach(p -> pairs.add(new int[] {positions.get(topic), p})));
            }
            given.put(member.id(), pairs);
        }
        group.writeLists(to, given);
    }

    private record Described(Map<Uuid, Integer> counts) implements SubscribedTopicDescriber {
        @Override
        public int numPartitions(Uuid topic) {
            return counts.getOrDefault(topic, -1);
        }

        @Override
        public Set<String> racksForPartition(Uuid topic, int partition) {
            return Set.of();
        }
    }
}
