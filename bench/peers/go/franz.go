package main

import (
	"sort"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// franz is kgo's cooperative sticky balancer, called as its group leader calls it.
type franz struct {
	balancer kgo.GroupBalancer
	topics   map[string]int32
	members  []kmsg.JoinGroupResponseMember
	// Made by the first plan: the members' metadata, parsed.
	parsed kgo.GroupMemberBalancer
	sync   []kmsg.SyncGroupRequestGroupAssignment
}

func newFranz() *franz {
	return &franz{balancer: kgo.CooperativeStickyBalancer()}
}

func (f *franz) load(group *group) error {
	f.parsed, f.sync = nil, nil
	f.topics = make(map[string]int32, len(group.topics))
	for _, topic := range group.topics {
		f.topics[topic.name] = topic.partitions
	}
	f.members = make([]kmsg.JoinGroupResponseMember, 0, len(group.members))
	for _, member := range group.members {
		joined := kmsg.NewJoinGroupResponseMember()
		joined.MemberID, joined.ProtocolMetadata = member.id, member.metadata
		f.members = append(f.members, joined)
	}
	// The client sorts the members of every response; it finds them sorted here.
	sort.Slice(f.members, func(i, j int) bool { return f.members[i].MemberID < f.members[j].MemberID })
	return nil
}

func (f *franz) plan() error {
	if f.parsed == nil {
		parsed, _, err := f.balancer.MemberBalancer(f.members)
		if err != nil {
			return err
		}
		f.parsed = parsed
	}
	_, err := balance(f.parsed, f.topics)
	return err
}

func (f *franz) round() error {
	// One form at a time: a large group's takes gigabytes.
	f.parsed, f.sync = nil, nil
	parsed, wanted, err := f.balancer.MemberBalancer(f.members)
	if err != nil {
		return err
	}
	counts := make(map[string]int32, len(wanted))
	for topic := range wanted {
		if count, exists := f.topics[topic]; exists {
			counts[topic] = count
		}
	}
	plan, err := balance(parsed, counts)
	if err != nil {
		return err
	}
	f.sync = plan.IntoSyncAssignment()
	return nil
}

func balance(parsed kgo.GroupMemberBalancer, topics map[string]int32) (kgo.IntoSyncAssignment, error) {
	if telling, ok := parsed.(kgo.GroupMemberBalancerOrError); ok {
		return telling.BalanceOrError(topics)
	}
	return parsed.Balance(topics), nil
}

func (f *franz) assigned() map[string][]byte {
	given := make(map[string][]byte, len(f.sync))
	for _, each := range f.sync {
		given[each.MemberID] = each.MemberAssignment
	}
	return given
}
