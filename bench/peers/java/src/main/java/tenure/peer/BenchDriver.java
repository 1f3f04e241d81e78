package tenure.peer;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * Answers a bench over standard input and output with what a released class chooses: one command a line, one answer a
 * line, as bench/peers/README.md says.
 *
 * The argument is cooperative-sticky or sticky (the consumers' classes), or uniform (the broker's).
 */
public final class BenchDriver {
    private static final com.sun.management.ThreadMXBean THREADS =
            (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final com.sun.management.OperatingSystemMXBean SYSTEM =
            (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    private BenchDriver() {}

    /** One rebalance's work; what it made is kept until the next call. */
    interface Peer {
        void load(BenchGroup group);

        /** Work that a rebalance does not do: undoing what the last call did to its input. */
        default void prepare() {}

        /** Chooses from the class's own in-memory form. */
        void plan();

        /** From the members' bytes to the assignments' bytes. */
        void round();

        /** Writes what the last call gave each member. */
        void write(Path to) throws IOException;
    }

    public static void main(String[] args) throws IOException {
        if (args.length != 1) {
            System.err.println("usage: BenchDriver cooperative-sticky|sticky|uniform");
            System.exit(2);
        }
        Peer peer = args[0].equals("uniform") ? new UniformPeer() : new StickyPeer(args[0]);
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        String module = args[0].equals("uniform") ? "kafka-group-coordinator " : "kafka-clients ";
        out.println(module + AssignorDriver.version() + ", Java " + Runtime.version());
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String answer;
            try {
                answer = ("ok " + answer(peer, line)).strip();
            } catch (IOException | RuntimeException | OutOfMemoryError fault) {
                answer = "error " + fault.toString().replace('\n', ' ');
            }
            out.println(answer);
        }
    }

    private static String answer(Peer peer, String line) throws IOException {
        int blank = line.indexOf(' ');
        String word = blank < 0 ? line : line.substring(0, blank);
        String rest = blank < 0 ? "" : line.substring(blank + 1);
        switch (word) {
            case "load" -> {
                peer.load(BenchGroup.read(Path.of(rest)));
                return "";
            }
            case "plan" -> {
                return repeat(peer, Integer.parseInt(rest), peer::plan);
            }
            case "round" -> {
                return repeat(peer, Integer.parseInt(rest), peer::round);
            }
            case "write" -> {
                peer.write(Path.of(rest));
                return "";
            }
            default -> throw new IllegalArgumentException("unknown command " + word);
        }
    }

    /** Thread CPU, process CPU and wall time in nanoseconds, and bytes allocated; the JVM does not count allocations. */
    private static String repeat(Peer peer, int times, Runnable call) {
        long id = Thread.currentThread().getId();
        long thread = 0;
        long process = 0;
        long wall = 0;
        long bytes = 0;
        for (int i = 0; i < times; i++) {
            peer.prepare();
            long bytesBefore = THREADS.getThreadAllocatedBytes(id);
            long wallBefore = System.nanoTime();
            long processBefore = SYSTEM.getProcessCpuTime();
            long threadBefore = THREADS.getCurrentThreadCpuTime();
            call.run();
            thread += THREADS.getCurrentThreadCpuTime() - threadBefore;
            process += SYSTEM.getProcessCpuTime() - processBefore;
            wall += System.nanoTime() - wallBefore;
            bytes += THREADS.getThreadAllocatedBytes(id) - bytesBefore;
        }
        return thread + " " + process + " " + wall + " " + bytes + " -";
    }
}
