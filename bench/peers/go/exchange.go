package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
)

// A group as the bench writes it: topics that exist, and members in the order in which they joined.
type group struct {
	topics  []topic
	members []member
}

type topic struct {
	name       string
	partitions int32
}

type member struct {
	id       string
	metadata []byte
}

const magic = "TNG1"

// readGroup reads a group file; the layout is in bench/peers/README.md.
func readGroup(path string) (*group, error) {
	bytes, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	in := reader{rest: bytes}
	if string(in.take(len(magic))) != magic {
		return nil, fmt.Errorf("%s is no group file", path)
	}
	var read group
	for range in.u32() {
		name := string(in.take(int(in.u16())))
		read.topics = append(read.topics, topic{name, int32(in.u32())})
	}
	for range in.u32() {
		id := string(in.take(int(in.u16())))
		read.members = append(read.members, member{id, in.take(int(in.u32()))})
	}
	if in.short || len(in.rest) > 0 {
		return nil, fmt.Errorf("%s ends at the wrong place", path)
	}
	return &read, nil
}

// A reader gives empty values after the end, and remembers that it did.
type reader struct {
	rest  []byte
	short bool
}

func (r *reader) take(n int) []byte {
	if n > len(r.rest) {
		r.short, r.rest = true, nil
		return nil
	}
	taken := r.rest[:n:n]
	r.rest = r.rest[n:]
	return taken
}

func (r *reader) u16() uint16 {
	if bytes := r.take(2); bytes != nil {
		return binary.BigEndian.Uint16(bytes)
	}
	return 0
}

func (r *reader) u32() uint32 {
	if bytes := r.take(4); bytes != nil {
		return binary.BigEndian.Uint32(bytes)
	}
	return 0
}

// writeAnswer writes what each member got, in the order of the group: kind 0, then length and bytes.
func writeAnswer(path string, group *group, assigned map[string][]byte) error {
	if group == nil {
		return errors.New("no group is loaded")
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(file)
	out.WriteByte(0)
	out.Write(binary.BigEndian.AppendUint32(nil, uint32(len(group.members))))
	for _, member := range group.members {
		bytes, given := assigned[member.id]
		if !given {
			file.Close()
			return fmt.Errorf("member %s got no assignment", member.id)
		}
		out.Write(binary.BigEndian.AppendUint32(nil, uint32(len(bytes))))
		out.Write(bytes)
	}
	return errors.Join(out.Flush(), file.Close())
}
