package main

import "github.com/IBM/sarama"

// saramaPeer is sarama's sticky strategy, called as its group leader calls it.
type saramaPeer struct {
	strategy sarama.BalanceStrategy
	topics   map[string][]int32
	joined   sarama.JoinGroupResponse
	parsed   map[string]sarama.ConsumerGroupMemberMetadata
	sync     sarama.SyncGroupRequest
}

func newSarama() *saramaPeer {
	return &saramaPeer{strategy: sarama.NewBalanceStrategySticky()}
}

func (s *saramaPeer) load(group *group) error {
	s.parsed, s.sync = nil, sarama.SyncGroupRequest{}
	s.topics = make(map[string][]int32, len(group.topics))
	for _, topic := range group.topics {
		numbers := make([]int32, topic.partitions)
		for number := range numbers {
			numbers[number] = int32(number)
		}
		s.topics[topic.name] = numbers
	}
	s.joined = sarama.JoinGroupResponse{}
	for _, member := range group.members {
		s.joined.Members = append(s.joined.Members, sarama.GroupMember{MemberId: member.id, Metadata: member.metadata})
	}
	return nil
}

func (s *saramaPeer) plan() error {
	if s.parsed == nil {
		parsed, err := s.joined.GetMembers()
		if err != nil {
			return err
		}
		s.parsed = parsed
	}
	_, err := s.strategy.Plan(s.parsed, s.topics)
	return err
}

func (s *saramaPeer) round() error {
	members, err := s.joined.GetMembers()
	if err != nil {
		return err
	}
	wanted := make(map[string][]int32)
	for _, member := range members {
		for _, topic := range member.Topics {
			if numbers, exists := s.topics[topic]; exists {
				wanted[topic] = numbers
			}
		}
	}
	plan, err := s.strategy.Plan(members, wanted)
	if err != nil {
		return err
	}
	s.sync = sarama.SyncGroupRequest{}
	for id, topics := range plan {
		data, err := s.strategy.AssignmentData(id, topics, 42)
		if err != nil {
			return err
		}
		if err := s.sync.AddGroupAssignmentMember(id, &sarama.ConsumerGroupMemberAssignment{Topics: topics, UserData: data}); err != nil {
			return err
		}
		delete(members, id)
	}
	for id := range members {
		if err := s.sync.AddGroupAssignmentMember(id, &sarama.ConsumerGroupMemberAssignment{}); err != nil {
			return err
		}
	}
	return nil
}

func (s *saramaPeer) assigned() map[string][]byte {
	given := make(map[string][]byte, len(s.sync.GroupAssignments))
	for _, each := range s.sync.GroupAssignments {
		given[each.MemberId] = each.Assignment
	}
	return given
}
