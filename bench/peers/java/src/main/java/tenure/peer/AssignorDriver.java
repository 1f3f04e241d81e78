package tenure.peer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Reads one group snapshot a line and answers with the plan that the released class chooses.
 *
 * A line is a snapshot, or {"name", "snapshot"}; the answer is {"assignments"}, with the name if there was one.
 * A line that fails gives {"error"} in its place and the stream goes on.
 *
 * Options: --assignor NAME overrides what the snapshots say; --golden echoes the snapshot in the answer;
 * --rounds N plans each line N times and adds "nanos", every sample in order; --version prints the version.
 */
public final class AssignorDriver {
    private static final ObjectMapper JSON = new ObjectMapper();

    private AssignorDriver() {}

    public static void main(String[] args) throws IOException {
        String assignor = null;
        boolean golden = false;
        int rounds = 0;
        for (int i = 0; i < args.length; i++) {
            switch (args[i]) {
                case "--assignor" -> assignor = args[++i];
                case "--golden" -> golden = true;
                case "--rounds" -> rounds = Integer.parseInt(args[++i]);
                case "--version" -> {
                    System.out.println("kafka-clients " + version());
                    return;
                }
                default -> {
                    System.err.println("unknown option " + args[i]);
                    System.exit(2);
                }
            }
        }
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        BufferedWriter out = new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            ObjectNode answer;
            try {
                answer = answer(JSON.readTree(line), assignor, golden, rounds);
            } catch (IOException | RuntimeException fault) {
                answer = JSON.createObjectNode();
                answer.put("error", fault.toString());
            }
            out.write(JSON.writeValueAsString(answer));
            out.write('\n');
            out.flush();
        }
    }

    /** The version that the client jar states of itself. */
    static String version() throws IOException {
        Properties stated = new Properties();
        try (InputStream in = AssignorDriver.class.getResourceAsStream("/kafka/kafka-version.properties")) {
            stated.load(in);
        }
        return stated.getProperty("version");
    }

    private static ObjectNode answer(JsonNode line, String assignor, boolean golden, int rounds) {
        JsonNode json = line.has("snapshot") ? line.get("snapshot") : line;
        Snapshot snapshot = Snapshot.parse(json);
        Round round = new Round(snapshot, assignor == null ? snapshot.assignor() : assignor);
        ObjectNode answer = JSON.createObjectNode();
        if (line.has("name")) {
            answer.set("name", line.get("name"));
        }
        if (golden) {
            answer.set("snapshot", json);
        }
        answer.set("assignments", assignments(round.plan()));
        if (rounds > 0) {
            ArrayNode nanos = answer.putArray("nanos");
            for (int i = 0; i < rounds; i++) {
                long start = System.nanoTime();
                int members = round.answer().size();
                nanos.add(System.nanoTime() - start);
                if (members != snapshot.members().size()) {
                    throw new IllegalStateException("the class answered for " + members + " members");
                }
            }
        }
        return answer;
    }

    private static ObjectNode assignments(Map<String, Map<String, TreeSet<Integer>>> plan) {
        ObjectNode members = JSON.createObjectNode();
        new TreeMap<>(plan).forEach((member, topics) -> {
            ObjectNode given = members.putObject(member);
            new TreeMap<>(topics).forEach((topic, partitions) -> ranges(given.putArray(topic), partitions));
        });
        return members;
    }

    /** Writes runs of three and more as "from-to". */
    private static void ranges(ArrayNode into, TreeSet<Integer> partitions) {
        List<Integer> all = new ArrayList<>(partitions);
        for (int i = 0; i < all.size(); ) {
            int end = i;
            while (end + 1 < all.size() && all.get(end + 1) == all.get(end) + 1) {
                end++;
            }
            if (end - i >= 2) {
                into.add(all.get(i) + "-" + all.get(end));
                i = end + 1;
            } else {
                into.add(all.get(i++));
            }
        }
    }
}
