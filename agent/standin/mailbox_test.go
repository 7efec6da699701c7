package standin

import (
	"context"
	"fmt"
	"log/slog"
	"net/mail"
	"strings"
	"testing"

	agentmail "roomgate/agent/mail"

	"roomgate/agent/goldentest"
)

// TestMailbox is handed letters by the gateway's own relay client.
func TestMailbox(t *testing.T) {
	var said strings.Builder
	m, err := OpenMailbox(slog.New(slog.NewTextHandler(&said, nil)))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- m.Run(ctx) }()
	relay := &agentmail.Relay{Address: strings.TrimPrefix(m.URL(), "smtp://"), Plain: true, From: &mail.Address{Name: "Rooms", Address: "rooms@example.com"}}
	for i, text := range []string{"Your code is\n\n    048305\n\nIt works once.\n", "A webhook fails: 123456\n"} {
		if err := relay.Send(t.Context(), agentmail.Letter{ID: fmt.Sprint(i), To: "ada@example.com", Subject: "Zutritt – für Sie", Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	got := m.Letters()
	if len(got) != 2 {
		t.Fatalf("letters %+v", got)
	}
	goldentest.Values(t, "letters", goldentest.Pairs{"got[0].Code": {got[0].Code, "048305"},
		"To": {got[0].To, "ada@example.com"}, "Subject": {got[0].Subject, "Zutritt – für Sie"}, "got[1].Code": {got[1].Code, ""},
		"A webhook fails: 123456": {strings.Contains(got[1].Text, "A webhook fails: 123456"), true}})
	for i := range maxLetters {
		if err := relay.Send(t.Context(), agentmail.Letter{ID: "x", To: fmt.Sprintf("n%d@example.com", i), Subject: "x", Text: "x\n"}); err != nil {
			t.Fatal(err)
		}
	}
	if got := m.Letters(); len(got) != maxLetters || got[0].To != "n0@example.com" {
		t.Errorf("%d letters are kept, the oldest to %s", len(got), got[0].To)
	}
	if err := relay.Send(t.Context(), agentmail.Letter{ID: "x", To: "ada@example.com", Subject: "x", Text: strings.Repeat("too long\n", maxLetter/9+1)}); err == nil {
		t.Error("a letter without an end is kept")
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("Run: %v", err)
	}
	if err := m.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if !strings.Contains(said.String(), "to=ada@example.com") || !strings.Contains(said.String(), "code=048305") {
		t.Errorf("it said %s", &said)
	}
}

// TestMailboxThatNeverRan gives its port back.
func TestMailboxThatNeverRan(t *testing.T) {
	m, err := OpenMailbox(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}
