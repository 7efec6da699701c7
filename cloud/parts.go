package cloud

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// The bounds of a message in parts.
const (
	MaxParts = 128
	// MaxPart is the most that Split puts into one part, in bytes: with its envelope it
	// stays below MaxEnvelope. MaxSignedPart leaves room for a signature, which is base64.
	MaxPart       = MaxEnvelope - 2<<10
	MaxSignedPart = 46 << 10
)

// partMembers is the room for what tells a part from the others: part, of, whole.
const partMembers = 100

// Part says which part of a message its data are.
type Part struct {
	Part  int    `json:"part"`  // from 1
	Of    int    `json:"of"`    // how many there are, at most MaxParts
	Whole string `json:"whole"` // the same in all parts of one message and in no other
}

// object is a JSON object whose members keep their order.
type object struct {
	names  []string
	values map[string]json.RawMessage
}

func readObject(data []byte) (o object, err error) {
	if err := json.Unmarshal(data, &o.values); err != nil {
		return o, err
	}
	o.names = members(data)
	return o, nil
}

// set adds a member or replaces its value.
func (o *object) set(name string, value json.RawMessage) {
	if _, known := o.values[name]; !known {
		o.names = append(o.names, name)
	}
	o.values[name] = value
}

// encode is the object as JSON; its values are not looked at again.
func (o *object) encode() []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range o.names {
		if i > 0 {
			b.WriteByte(',')
		}
		key, _ := json.Marshal(name) // texts always can be encoded
		b.Write(key)
		b.WriteByte(':')
		b.Write(o.values[name])
	}
	b.WriteByte('}')
	return b.Bytes()
}

// items are the elements of a JSON list; ok is false for any other value.
func items(value json.RawMessage) (all []json.RawMessage, ok bool) {
	value = bytes.TrimSpace(value)
	return all, len(value) > 0 && value[0] == '[' && json.Unmarshal(value, &all) == nil
}

// Split cuts data, a JSON object, into parts of at most limit bytes: the elements of
// its lists are spread over them in their order, every other member stands in each. What
// is small enough comes back as it is, without part and of. whole names the message.
func Split(data []byte, whole string, limit int) ([]json.RawMessage, error) {
	if name := repeated(data); name != "" {
		return nil, fmt.Errorf("%s is there twice: upper and lower case are the same", name)
	}
	if len(data) <= limit {
		return []json.RawMessage{data}, nil
	}
	all, err := readObject(data)
	if err != nil {
		return nil, err
	}
	s := splitting{room: limit - partMembers - len(whole), first: object{values: map[string]json.RawMessage{}}}
	var empty []string
	for _, name := range all.names {
		if list, ok := items(all.values[name]); !ok {
			s.first.set(name, all.values[name])
		} else if len(list) == 0 {
			empty = append(empty, name)
		}
	}
	s.begin()
	for _, name := range empty {
		s.parts[0].set(name, json.RawMessage("[]"))
	}
	s.size = len(s.parts[0].encode())
	if s.size > s.room {
		return nil, fmt.Errorf("the members that are no lists have %d bytes: they leave no room in a part", s.size)
	}
	for _, name := range all.names {
		if list, ok := items(all.values[name]); ok && len(list) > 0 {
			if err := s.spread(name, list); err != nil {
				return nil, err
			}
		}
	}
	return s.numbered(whole)
}

// splitting is Split at work.
type splitting struct {
	room  int    // for one part, bytes
	first object // what every part has
	parts []*object
	size  int // of the last part
}

// begin begins a part.
func (s *splitting) begin() {
	part := &object{slices.Clone(s.first.names), maps.Clone(s.first.values)}
	s.parts, s.size = append(s.parts, part), len(part.encode())
}

// spread puts a list into the last part and as many more as it needs.
func (s *splitting) spread(name string, list []json.RawMessage) error {
	key, _ := json.Marshal(name) // texts always can be encoded
	from, around := 0, len(key)+len(`:[],`)
	s.size += around
	for i, item := range list {
		if s.size += len(item) + 1; s.size <= s.room {
			continue
		}
		s.cut(name, list[from:i])
		s.begin()
		from = i
		if s.size += around + len(item) + 1; s.size > s.room {
			return fmt.Errorf("%s[%d] has %d bytes: it does not fit into one part", name, i, len(item))
		}
	}
	s.cut(name, list[from:])
	return nil
}

// cut is a stretch of a list, in the last part.
func (s *splitting) cut(name string, list []json.RawMessage) {
	if len(list) > 0 {
		s.parts[len(s.parts)-1].set(name, join(list))
	}
}

func join(list []json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, item := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(item)
	}
	b.WriteByte(']')
	return b.Bytes()
}

// numbered are the parts with their numbers.
func (s *splitting) numbered(whole string) (all []json.RawMessage, err error) {
	if len(s.parts) > MaxParts {
		return nil, fmt.Errorf("it needs %d parts: at most %d go", len(s.parts), MaxParts)
	}
	for i, part := range s.parts {
		name, _ := json.Marshal(whole)
		part.set("part", fmt.Append(nil, i+1))
		part.set("of", fmt.Append(nil, len(s.parts)))
		part.set("whole", name)
		all = append(all, part.encode())
	}
	return all, nil
}

// Join is what Split was given, without part, of and whole: lists are joined in the order
// of the parts, every other member has to be the same in each that has it. The error is
// an *EnvelopeError.
func Join(parts []json.RawMessage) (json.RawMessage, error) {
	whole := object{values: map[string]json.RawMessage{}}
	lists := map[string][]json.RawMessage{}
	for _, data := range parts {
		if name := repeated(data); name != "" {
			return nil, &EnvelopeError{name, "is there twice: send it once"}
		}
		part, err := readObject(data)
		if err != nil {
			return nil, &EnvelopeError{"data", "is not a JSON object"}
		}
		for _, name := range part.names {
			value := part.values[name]
			have, known := whole.values[name]
			list, ok := items(value)
			switch {
			case name == "part" || name == "of" || name == "whole":
			case ok && (!known || lists[name] != nil):
				lists[name] = append(slices.Grow(lists[name], 1), list...)
				whole.set(name, nil)
			case known && !bytes.Equal(have, value):
				return nil, &EnvelopeError{name, "differs from part to part, and is no list"}
			default:
				whole.set(name, value)
			}
		}
	}
	for name, list := range lists {
		whole.set(name, join(list))
	}
	return whole.encode(), nil
}
