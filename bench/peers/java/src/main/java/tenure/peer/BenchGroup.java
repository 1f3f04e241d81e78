package tenure.peer;

import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A group as the bench writes it: topics that exist, and members in the order in which they joined. */
record BenchGroup(Map<String, Integer> topics, List<Member> members) {
    private static final int MAGIC = 0x544e4731; // TNG1

    record Member(String id, byte[] metadata) {}

    static BenchGroup read(Path path) throws IOException {
        ByteBuffer in = ByteBuffer.wrap(Files.readAllBytes(path));
        try {
            if (in.getInt() != MAGIC) {
                throw new IOException(path + " is no group file");
            }
            Map<String, Integer> topics = new LinkedHashMap<>();
            for (int left = in.getInt(); left > 0; left--) {
                topics.put(name(in), in.getInt());
            }
            List<Member> members = new ArrayList<>();
            for (int left = in.getInt(); left > 0; left--) {
                String id = name(in);
                members.add(new Member(id, bytes(in, in.getInt())));
            }
            return new BenchGroup(topics, members);
        } catch (BufferUnderflowException fault) {
            throw new IOException(path + " ends too early", fault);
        }
    }

    private static String name(ByteBuffer in) {
        return new String(bytes(in, Short.toUnsignedInt(in.getShort())), StandardCharsets.UTF_8);
    }

    private static byte[] bytes(ByteBuffer in, int length) {
        if (length > in.remaining()) {
            throw new BufferUnderflowException();
        }
        byte[] bytes = new byte[length];
        in.get(bytes);
        return bytes;
    }

    /** Writes what each member was given: kind 0, then length and bytes of each. */
    void writeBytes(Path to, Map<String, ByteBuffer> given) throws IOException {
        try (DataOutputStream out = new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(to)))) {
            out.writeByte(0);
            out.writeInt(members.size());
            for (Member member : members) {
                ByteBuffer bytes = given.get(member.id()).duplicate();
                byte[] copy = new byte[bytes.remaining()];
                bytes.get(copy);
                out.writeInt(copy.length);
                out.write(copy);
            }
        }
    }

    /** The same for a class that has no bytes: kind 1, then count and pairs of topic position and partition. */
    void writeLists(Path to, Map<String, List<int[]>> given) throws IOException {
        try (DataOutputStream out = new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(to)))) {
            out.writeByte(1);
            out.writeInt(members.size());
            for (Member member : members) {
                List<int[]> pairs = given.get(member.id());
                out.writeInt(pairs.size());
                for (int[] pair : pairs) {
                    out.writeInt(pair[0]);
                    out.writeInt(pair[1]);
                }
            }
        }
    }
}
