// Command peers answers a bench over standard input and output with what the released Go assignors choose.
//
//	peers franz-go|sarama     serve: one command a line, one answer a line (see bench/peers/README.md)
//	peers --version           the version of each client
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
)

// A peer leads groups. Both calls do one rebalance's work and keep what they made until the next.
type peer interface {
	// load takes a group, and makes ready whatever a real leader has before the rebalance.
	load(group *group) error
	// plan chooses from the client's own in-memory form.
	plan() error
	// round goes from the members' bytes to the assignments' bytes.
	round() error
	// assigned has each member's bytes after a round, by member id.
	assigned() map[string][]byte
}

func main() {
	if len(os.Args) != 2 {
		fail("usage: peers franz-go|sarama|--version")
	}
	if os.Args[1] == "--version" {
		fmt.Printf("franz-go %s\nsarama %s\n%s\n", version("github.com/twmb/franz-go"), version("github.com/IBM/sarama"), runtime.Version())
		return
	}
	var served peer
	var name string
	switch os.Args[1] {
	case "franz-go":
		served, name = newFranz(), "franz-go "+version("github.com/twmb/franz-go")
	case "sarama":
		served, name = newSarama(), "sarama "+version("github.com/IBM/sarama")
	default:
		fail("no peer " + os.Args[1])
	}
	// The thread's clock only counts our calls if they stay on it.
	runtime.LockOSThread()
	fmt.Printf("%s, %s\n", name, runtime.Version())
	serve(served)
}

func serve(served peer) {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<16)
	var current *group
	for lines.Scan() {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		var answer string
		var err error
		switch word {
		case "load":
			current = nil
			if current, err = readGroup(rest); err == nil {
				err = served.load(current)
			}
			runtime.GC()
		case "plan":
			answer, err = repeat(rest, served.plan)
		case "round":
			answer, err = repeat(rest, served.round)
		case "write":
			err = writeAnswer(rest, current, served.assigned())
		default:
			err = fmt.Errorf("unknown command %q", word)
		}
		if err != nil {
			fmt.Printf("error %s\n", strings.ReplaceAll(err.Error(), "\n", " "))
			continue
		}
		fmt.Println(strings.TrimSpace("ok " + answer))
	}
}

// repeat runs a call some times and tells: thread CPU, process CPU and wall time in nanoseconds, bytes and allocations.
func repeat(times string, call func() error) (string, error) {
	n, err := strconv.Atoi(times)
	if err != nil || n < 1 {
		return "", fmt.Errorf("a number of calls is needed, not %q", times)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := now()
	for range n {
		if err := call(); err != nil {
			return "", err
		}
	}
	spent := now().since(begin)
	runtime.ReadMemStats(&after)
	// What is garbage now shall not be collected while another peer is measured.
	runtime.GC()
	return fmt.Sprintf("%d %d %d %d %d", spent.thread, spent.process, spent.wall,
		after.TotalAlloc-before.TotalAlloc, after.Mallocs-before.Mallocs), nil
}

// version is what the build says that it linked.
func version(module string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, dependency := range info.Deps {
		if dependency.Path == module {
			return strings.TrimPrefix(dependency.Version, "v")
		}
	}
	return "unknown"
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, message)
	os.Exit(2)
}
