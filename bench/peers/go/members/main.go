// Consumers of franz-go in one process, driven by lines: see java/members/MemberHost.java for the lines and what is
// printed.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sys/unix"
)

var printing sync.Mutex

func tell(name, event string, rest map[string]any) {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		panic(err)
	}
	line := map[string]any{"at": now.Nano(), "member": name, "event": event}
	for key, value := range rest {
		line[key] = value
	}
	text, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	printing.Lock()
	defer printing.Unlock()
	fmt.Println(string(text))
}

func listed(partitions map[string][]int32) map[string]any {
	names := []string{}
	for topic, numbers := range partitions {
		for _, number := range numbers {
			names = append(names, fmt.Sprintf("%s-%d", topic, number))
		}
	}
	return map[string]any{"partitions": names}
}

type member struct {
	settings map[string]string
	ends     atomic.Bool
	done     chan struct{}
}

func balancers(names string) []kgo.GroupBalancer {
	known := map[string]kgo.GroupBalancer{
		"range": kgo.RangeBalancer(), "roundrobin": kgo.RoundRobinBalancer(),
		"sticky": kgo.StickyBalancer(), "cooperative-sticky": kgo.CooperativeStickyBalancer(),
	}
	var list []kgo.GroupBalancer
	for _, name := range strings.Split(names, ",") {
		list = append(list, known[name])
	}
	return list
}

func (m *member) run() {
	defer close(m.done)
	name := m.settings["name"]
	session, _ := strconv.Atoi(m.settings["session_ms"])
	commit := func(ctx context.Context, client *kgo.Client) {
		if err := client.CommitUncommittedOffsets(ctx); err != nil {
			tell(name, "refused", map[string]any{"text": err.Error()})
		}
	}
	options := []kgo.Opt{
		kgo.SeedBrokers(m.settings["bootstrap"]),
		kgo.ClientID(name),
		kgo.ConsumerGroup(m.settings["group"]),
		kgo.ConsumeTopics(strings.Split(m.settings["topics"], ",")...),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.DisableAutoCommit(),
		kgo.BlockRebalanceOnPoll(),
		kgo.SessionTimeout(time.Duration(session) * time.Millisecond),
		kgo.HeartbeatInterval(200 * time.Millisecond),
		kgo.RebalanceTimeout(30 * time.Second),
		kgo.MetadataMaxAge(time.Second),
		kgo.MetadataMinAge(200 * time.Millisecond),
		kgo.FetchMaxWait(50 * time.Millisecond),
		kgo.Balancers(balancers(m.settings["strategies"])...),
		kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, partitions map[string][]int32) {
			tell(name, "assigned", listed(partitions))
		}),
		kgo.OnPartitionsRevoked(func(ctx context.Context, client *kgo.Client, partitions map[string][]int32) {
			commit(ctx, client)
			tell(name, "revoked", listed(partitions))
		}),
		kgo.OnPartitionsLost(func(_ context.Context, _ *kgo.Client, partitions map[string][]int32) {
			tell(name, "lost", listed(partitions))
		}),
	}
	if instance, ok := m.settings["instance"]; ok {
		options = append(options, kgo.InstanceID(instance))
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		tell(name, "error", map[string]any{"text": err.Error()})
		return
	}
	for !m.ends.Load() {
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		fetches := client.PollFetches(ctx)
		cancel()
		some := false
		fetches.EachPartition(func(part kgo.FetchTopicPartition) {
			if len(part.Records) == 0 {
				return
			}
			some = true
			rest := listed(map[string][]int32{part.Topic: {part.Partition}})
			rest["from"] = part.Records[0].Offset
			rest["to"] = part.Records[len(part.Records)-1].Offset + 1
			tell(name, "records", rest)
		})
		if some {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			commit(ctx, client)
			cancel()
		}
		client.AllowRebalance()
	}
	client.CloseAllowingRebalance()
	tell(name, "closed", listed(nil))
}

func main() {
	members := map[string]*member{}
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		switch words[0] {
		case "start":
			settings := map[string]string{}
			for _, word := range words[1:] {
				key, value, _ := strings.Cut(word, "=")
				settings[key] = value
			}
			one := &member{settings: settings, done: make(chan struct{})}
			members[settings["name"]] = one
			go one.run()
		case "close":
			members[words[1]].ends.Store(true)
		}
	}
	for _, one := range members {
		one.ends.Store(true)
	}
	for _, one := range members {
		select {
		case <-one.done:
		case <-time.After(10 * time.Second):
		}
	}
}
