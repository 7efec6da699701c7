package backend

import (
	"crypto/ed25519"
	"testing"
	"time"

	"roomgate/cloud"
)

// TestOwnIsWhatThisKeyHasSignedForThisTopic: the broker may lay anything under a
// topic, also what was signed for another gateway.
func TestOwnIsWhatThisKeyHasSignedForThisTopic(t *testing.T) {
	mine, other := NewSigner(ed25519.NewKeyFromSeed(make([]byte, 32))), NewSigner(ed25519.NewKeyFromSeed([]byte("another key of thirty-two bytes!")))
	here, there := cloud.Topics{Gateway: "one"}.Down(cloud.LevelConfig), cloud.Topics{Gateway: "two"}.Down(cloud.LevelConfig)
	write := func(s *Signer, topic string) []byte {
		text, err := s.Encode(topic, cloud.Envelope{ID: "c", Source: "b", Type: cloud.TypeOf(cloud.LevelConfig), Data: []byte(`{"revision":1}`)})
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for what, c := range map[string]struct {
		by   *Signer
		text []byte
		own  bool
	}{
		"its own":         {mine, write(mine, here), true},
		"of another key":  {mine, write(other, here), false},
		"another gateway": {mine, write(mine, there), false},
		"not signed":      {mine, write(nil, here), false},
		"by nobody":       {nil, write(mine, here), false},
		"nothing":         {mine, nil, false},
	} {
		if e, own := c.by.Own(here, c.text); own != c.own || own && string(e.Data) != `{"revision":1}` {
			t.Errorf("%s: %v, %+v", what, own, e)
		}
	}
}

// TestSignedCommandsAreShort: a gateway takes a command of which a broker may have held back longer than a minute for one that
// nobody has signed, in what may open a door. One that does not say ends sooner.
func TestSignedCommandsAreShort(t *testing.T) {
	b := &Backend{o: Options{Signer: NewSigner(ed25519.NewKeyFromSeed(make([]byte, 32)))}}
	for _, c := range []Command{{DeviceType: "light", Action: "on"}, {DeviceType: "light", Action: "on", TTL: 45}} {
		m, _, err := b.commandMessage("g", c)
		if err != nil {
			t.Fatal(err)
		}
		s, err := cloud.ReadSigned(m.Payload)
		if err != nil {
			t.Fatal(err)
		}
		e, err := cloud.Decode(s.Body)
		if err != nil {
			t.Fatal(err)
		}
		var data Command
		if err := e.DataInto(&data); err != nil {
			t.Fatal(err)
		}
		if life := data.ExpiresAt.Sub(e.Time); life <= 0 || life > time.Minute || data.TTL != 0 {
			t.Errorf("%+v lives %v with a ttl of %v", c, life, data.TTL)
		}
	}
}
