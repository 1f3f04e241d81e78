package tenure.peer;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A group snapshot as the JSON files hold it; an unknown key or a wrong type is refused by name. */
record Snapshot(String assignor, Map<String, Topic> topics, Map<String, Member> members) {

    private static final Set<String> SNAPSHOT_KEYS = Set.of("assignor", "topics", "members");
    private static final Set<String> TOPIC_KEYS = Set.of("partitions", "racks");
    private static final Set<String> MEMBER_KEYS =
            Set.of("topics", "owned", "generation", "rack", "instance", "protocol");

    /** The racks list is empty when nothing is known of the replicas, else it has one entry a partition. */
    record Topic(int partitions, List<List<String>> racks) {}

    record Member(
            List<String> topics,
            Map<String, List<Integer>> owned,
            Optional<Integer> generation,
            Optional<String> rack,
            Optional<String> instance) {}

    static Snapshot parse(JsonNode json) {
        onlyKeys(json, SNAPSHOT_KEYS, "snapshot");
        Map<String, Topic> topics = new LinkedHashMap<>();
        for (Map.Entry<String, JsonNode> entry : json.path("topics").properties()) {
            topics.put(entry.getKey(), topic(entry.getKey(), entry.getValue()));
        }
        Map<String, Member> members = new LinkedHashMap<>();
        for (Map.Entry<String, JsonNode> entry : json.path("members").properties()) {
            members.put(entry.getKey(), member(entry.getKey(), entry.getValue()));
        }
        return new Snapshot(json.path("assignor").asText("cooperative-sticky"), topics, members);
    }

    private static Topic topic(String name, JsonNode json) {
        if (json.isInt()) {
            return new Topic(json.intValue(), List.of());
        }
        onlyKeys(json, TOPIC_KEYS, "topic " + name);
        int partitions = json.path("partitions").asInt(-1);
        if (partitions < 0) {
            throw new IllegalArgumentException("topic " + name + ": partitions must be a whole number from 0 up");
        }
        List<List<String>> racks = new ArrayList<>();
        for (JsonNode replicas : json.path("racks")) {
            racks.add(strings(replicas));
        }
        if (!racks.isEmpty() && racks.size() != partitions) {
            throw new IllegalArgumentException(
                    "topic " + name + ": " + racks.size() + " rack lists for " + partitions + " partitions");
        }
        return new Topic(partitions, racks);
    }

    private static Member member(String id, JsonNode json) {
        onlyKeys(json, MEMBER_KEYS, "member " + id);
        Map<String, List<Integer>> owned = new LinkedHashMap<>();
        for (Map.Entry<String, JsonNode> entry : json.path("owned").properties()) {
            owned.put(entry.getKey(), partitions(entry.getValue()));
        }
        JsonNode generation = json.path("generation");
        return new Member(
                strings(json.path("topics")),
                owned,
                generation.isInt() ? Optional.of(generation.intValue()) : Optional.empty(),
                text(json.path("rack")),
                text(json.path("instance")));
    }

    private static Optional<String> text(JsonNode json) {
        return json.isTextual() ? Optional.of(json.textValue()) : Optional.empty();
    }

    private static List<String> strings(JsonNode json) {
        List<String> all = new ArrayList<>();
        for (JsonNode each : json) {
            all.add(each.asText());
        }
        return all;
    }

    /** Numbers, or inclusive ranges written "from-to". */
    private static List<Integer> partitions(JsonNode json) {
        List<Integer> all = new ArrayList<>();
        for (JsonNode each : json) {
            if (each.isInt()) {
                all.add(each.intValue());
                continue;
            }
            String range = each.asText();
            int dash = range.indexOf('-', 1);
            if (dash < 0) {
                throw new IllegalArgumentException("not a partition and not a range: " + range);
            }
            int to = Integer.parseInt(range.substring(dash + 1));
            for (int p = Integer.parseInt(range.substring(0, dash)); p <= to; p++) {
                all.add(p);
            }
        }
        return all;
    }

    private static void onlyKeys(JsonNode json, Set<String> known, String where) {
        if (!json.isObject()) {
            throw new IllegalArgumentException(where + ": an object is needed");
        }
        for (Iterator<String> names = json.fieldNames(); names.hasNext(); ) {
            String name = names.next();
            if (!known.contains(name)) {
                throw new IllegalArgumentException(where + ": unknown key " + name);
            }
        }
    }
}
