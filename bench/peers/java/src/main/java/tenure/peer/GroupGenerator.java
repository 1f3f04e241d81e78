package tenure.peer;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Writes small groups, one {"name", "snapshot"} a line: arguments are the assignor, how many of each kind, and a seed.
 *
 * Equal arguments give equal lines. Every kind turns on one trait (or all) on top of a plain group, so that a plan
 * that differs says by its name what was misread.
 */
public final class GroupGenerator {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** Code points around which UTF-16 order and UTF-8 order part: the first two swap places. */
    private static final String[] ODD_NAMES = {
        "\uff5e", "\ud83d\ude00", "z", "\ufffd", "\ud800\udc00", "\ue000", "\udbff\udfff", "\u00e9", "Z", "_", "-",
        ".", "0", "10", "2", "a\uff5e", "a\ud83d\ude00", "a", "aa", "\ud7ff",
    };

    private enum Kind {
        PLAIN("plain"),
        MIXED("mixed subscriptions"),
        STATIC("static members"),
        TWICE("topics listed twice"),
        MISSING("topics that do not exist"),
        NONE("members with no topics"),
        NAMES("names that UTF-16 orders differently"),
        CROWD("more members than partitions"),
        HISTORY("history that must not count"),
        RACKS("racks"),
        COPARTITIONED("racks and equal topics"),
        PATCHY("racks partly known"),
        ALL("everything at once");

        final String title;

        Kind(String title) {
            this.title = title;
        }

        boolean is(Kind... some) {
            return this == ALL || List.of(some).contains(this);
        }
    }

    private final Random random;
    private final Kind kind;

    private GroupGenerator(Kind kind, long seed) {
        this.kind = kind;
        random = new Random(seed);
    }

    public static void main(String[] args) throws JsonProcessingException {
        String assignor = args[0];
        int each = Integer.parseInt(args[1]);
        long seed = Long.parseLong(args[2]);
        for (Kind kind : Kind.values()) {
            for (int i = 0; i < each; i++) {
                ObjectNode line = JSON.createObjectNode();
                line.put("name", "%s %s %03d".formatted(assignor, kind.title, i));
                line.set("snapshot", new GroupGenerator(kind, seed + 1_000_003L * kind.ordinal() + i).group(assignor));
                System.out.println(JSON.writeValueAsString(line));
            }
        }
    }

    private ObjectNode group(String assignor) {
        ObjectNode snapshot = JSON.createObjectNode();
        snapshot.put("assignor", assignor);
        Map<String, Integer> topics = topics(snapshot.putObject("topics"));
        members(snapshot.putObject("members"), new ArrayList<>(topics.keySet()));
        return snapshot;
    }

    private Map<String, Integer> topics(ObjectNode into) {
        List<String> names = names("t", kind.is(Kind.COPARTITIONED) ? between(2, 5) : between(1, 5));
        int racks = between(2, 4);
        int shared = between(1, 12);
        Map<String, Integer> topics = new LinkedHashMap<>();
        for (String name : names) {
            int partitions = kind.is(Kind.CROWD) ? between(1, 4) : between(1, 12);
            if (kind.is(Kind.COPARTITIONED) && chance(70)) {
                partitions = shared;
            }
            if (kind.is(Kind.MISSING) && chance(15)) {
                partitions = 0;
            }
            topics.put(name, partitions);
            if (kind.is(Kind.RACKS, Kind.COPARTITIONED, Kind.PATCHY) && !(kind.is(Kind.PATCHY) && chance(25))) {
                ObjectNode topic = into.putObject(name);
                topic.put("partitions", partitions);
                replicas(topic.putArray("racks"), partitions, racks);
            } else {
                into.put(name, partitions);
            }
        }
        return topics;
    }

    private void replicas(ArrayNode into, int partitions, int racks) {
        int factor = between(1, Math.min(3, racks));
        boolean turning = chance(50);
        for (int p = 0; p < partitions; p++) {
            ArrayNode replicas = into.addArray();
            if (kind.is(Kind.PATCHY) && chance(15)) {
                continue;
            }
            int first = turning ? p : between(0, racks - 1);
            for (int r = 0; r < factor; r++) {
                replicas.add("r" + (first + r) % racks);
            }
        }
    }

    private void members(ObjectNode into, List<String> topics) {
        int most = kind.is(Kind.CROWD) ? 12 : 6;
        List<String> ids = names("m", between(kind.is(Kind.CROWD) ? 5 : 1, most));
        List<String> instances = names("i", ids.size());
        Collections.shuffle(instances, random);
        boolean alike = !kind.is(Kind.MIXED, Kind.NONE) && chance(kind == Kind.ALL ? 40 : 60);
        for (int m = 0; m < ids.size(); m++) {
            ObjectNode member = into.putObject(ids.get(m));
            List<String> wanted = wanted(topics, alike);
            ArrayNode list = member.putArray("topics");
            wanted.forEach(list::add);
            if (kind.is(Kind.STATIC) && chance(60)) {
                member.put("instance", instances.get(m));
            }
            if (kind.is(Kind.RACKS, Kind.COPARTITIONED, Kind.PATCHY) && !(kind.is(Kind.PATCHY) && chance(30))) {
                member.put("rack", kind.is(Kind.PATCHY) && chance(10) ? "" : "r" + between(0, 4));
            }
            if (kind.is(Kind.HISTORY) && chance(70)) {
                history(member, topics);
            }
        }
    }

    private List<String> wanted(List<String> topics, boolean alike) {
        List<String> wanted = new ArrayList<>();
        if (kind.is(Kind.NONE) && chance(30)) {
            return wanted;
        }
        for (String topic : topics) {
            if (alike || chance(60)) {
                wanted.add(topic);
            }
        }
        if (kind.is(Kind.MISSING) && chance(50)) {
            wanted.add("gone" + between(0, 2));
        }
        if (kind.is(Kind.TWICE) && !wanted.isEmpty()) {
            for (int i = between(0, 3); i > 0; i--) {
                wanted.add(wanted.get(between(0, wanted.size() - 1)));
            }
        }
        Collections.shuffle(wanted, random);
        return wanted;
    }

    private void history(ObjectNode member, List<String> topics) {
        ObjectNode owned = member.putObject("owned");
        for (String topic : topics) {
            if (chance(50)) {
                ArrayNode partitions = owned.putArray(topic);
                for (int p = 0; p < 14; p++) {
                    if (chance(25)) {
                        partitions.add(p);
                    }
                }
            }
        }
        member.put("generation", between(1, 9));
    }

    /** Distinct names in no order: plain numbers of changing length, so that text order is not number order. */
    private List<String> names(String prefix, int count) {
        List<String> all = new ArrayList<>();
        if (kind.is(Kind.NAMES)) {
            for (String odd : ODD_NAMES) {
                all.add(odd);
            }
        } else {
            for (int i = 0; i < 15; i++) {
                all.add(prefix + i);
            }
        }
        Collections.shuffle(all, random);
        return new ArrayList<>(all.subList(0, count));
    }

    private int between(int from, int to) {
        return from + random.nextInt(to - from + 1);
    }

    private boolean chance(int percent) {
        return random.nextInt(100) < percent;
    }
}
