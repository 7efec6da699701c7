package main

import (
	"encoding/json"

	"roomgate/cloud"
)

// believedRevision is the highest revision that somebody else may have said: there
// has to be a later one, also after many such.
const believedRevision = 1 << 53

// keptConfig is what a broker keeps of a gateway's configuration, in parts or in one.
type keptConfig struct {
	topics cloud.Topics
	by     map[string]cloud.Message // by their topics
}

// keep notes a message of down/config or of one of its parts.
func (k keptConfig) keep(m cloud.Message) { k.by[m.Topic] = m }

// mayBeSigned is what of it l's key may sign again: all if that key has signed it, else the
// revision. Anybody at the broker may have said the rest, and what a gateway has and
// hears nothing of it keeps.
func (k keptConfig) mayBeSigned(l *cloudLink) map[string]json.RawMessage {
	first, kept := k.by[k.topics.PartTopic(1)]
	if !kept {
		return map[string]json.RawMessage{}
	}
	all := map[string]json.RawMessage{}
	if own, ok := k.own(l); ok {
		_ = json.Unmarshal(own, &all) // one that cannot be read is not in force
		return all
	}
	body := first.Payload
	if s, err := cloud.ReadSigned(body); err == nil {
		body = s.Body
	}
	var other struct {
		Data struct {
			Revision uint64 `json:"revision"`
		} `json:"data"`
	}
	if json.Unmarshal(body, &other) == nil && other.Data.Revision <= believedRevision {
		all["revision"], _ = json.Marshal(other.Data.Revision)
	}
	return all
}

// own is the configuration that l's key has signed; ok is false if it has not signed all of it.
func (k keptConfig) own(l *cloudLink) (data json.RawMessage, ok bool) {
	var parts []json.RawMessage
	var first cloud.Part
	for n := 1; n == 1 || n <= min(first.Of, cloud.MaxParts); n++ {
		topic := k.topics.PartTopic(n)
		e, own := l.signer.Own(topic, k.by[topic].Payload)
		var part cloud.Part
		if !own || json.Unmarshal(e.Data, &part) != nil {
			return nil, false
		}
		switch {
		case n == 1:
			first = part
		case part.Whole != first.Whole || part.Part != n: // of another one
			return nil, false
		}
		parts = append(parts, e.Data)
	}
	if first == (cloud.Part{}) {
		return parts[0], true
	}
	data, err := cloud.Join(parts)
	return data, err == nil
}
