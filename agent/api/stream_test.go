package api

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"roomgate/agent/access"
	"roomgate/agent/agenttest"
	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/cloud"
)

// eventStream is one open stream.
type eventStream struct {
	t      *testing.T
	r      *http.Response
	lines  *bufio.Reader
	cancel context.CancelFunc
}

func (b *building) stream(t *testing.T, path string, headers ...string) *eventStream {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := newRequest(t, "GET", path, append(headers, "Accept: text/event-stream")...).WithContext(ctx)
	if r.Header.Get("X-Api-Key")+r.Header.Get("X-Org-Api-Key")+r.Header.Get("Authorization") == "" {
		r.Header.Set("X-API-Key", systemKey)
	}
	got, err := b.net.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if got.StatusCode != 200 || got.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("stream answers %d %s", got.StatusCode, got.Header.Get("Content-Type"))
	}
	s := &eventStream{t, got, bufio.NewReader(got.Body), cancel}
	if first := s.block(); first != "retry: 3000" {
		t.Fatalf("stream begins with %q", first)
	}
	return s
}

func (s *eventStream) close() { s.cancel(); _ = s.r.Body.Close() }

// block reads up to the next empty line; "" at the end.
func (s *eventStream) block() string {
	var lines []string
	for {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			return ""
		}
		if line == "\n" {
			return strings.Join(lines, "\n")
		}
		lines = append(lines, strings.TrimSuffix(line, "\n"))
	}
}

// event reads the next event, past comments.
func (s *eventStream) event() (id, kind, data string) {
	s.t.Helper()
	for range 100 {
		block := s.block()
		if block == "" {
			s.t.Fatal("the stream has ended")
		}
		if strings.HasPrefix(block, ":") {
			continue
		}
		lines := strings.Split(block, "\n")
		if len(lines) != 3 || !strings.HasPrefix(lines[0], "id: ") || !strings.HasPrefix(lines[1], "event: ") || !strings.HasPrefix(lines[2], "data: ") {
			s.t.Fatalf("event is %q", block)
		}
		return lines[0][4:], lines[1][7:], lines[2][6:]
	}
	return "", "", ""
}

// TestSpaceThatIsGivenAway follows the events of an organization while the cloud
// gives its space to another one.
func TestSpaceThatIsGivenAway(t *testing.T) {
	belowTheCloud(t, func(t *testing.T, b *agenttest.Building, link *cloud.Link, _ func() []cloud.Message) {
		s := New(Options{Agent: b.Agent, Version: "test"})
		const other = "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4ac7"
		readers := map[string]*follow{}
		_, end, err := b.Events.Latest(eventlog.Filter{Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, organization := range []string{auroraOrg, other} {
			f := &follow{who: access.Principal{OrganizationID: organization}, placed: true}
			f.filter.After, f.filter.Limit, f.filter.Type = end, maxLimit, "commandCompleted"
			readers[organization] = f
		}
		told := func(want map[string]int) {
			t.Helper()
			c := device.Command{Space: agenttest.Aurora, DeviceType: "light", Action: "on"}
			if _, err := b.Commands.Do(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			for organization, f := range readers {
				if found, _, err := s.streams.next(f); err != nil || len(found) != want[organization] {
					t.Errorf("%s is told of %d events, %v, want %d", organization, len(found), err, want[organization])
				}
			}
		}
		told(map[string]int{auroraOrg: 1})
		payload, err := cloud.Envelope{ID: "c1", Source: "backend", Type: "roomgate.config", Time: time.Now(),
			Data: json.RawMessage(`{"revision":1,"spaces":[{"id":"` + agenttest.Aurora + `","organization_id":"` + other + `"}]}`)}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if err := link.Publish(t.Context(), cloud.Message{Topic: cloud.Topics{Gateway: "demo"}.Down("config"), Payload: payload, QoS: 1}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		told(map[string]int{other: 1})
	})
}

func TestStreamTellsWhatHappensAndResumes(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		s := b.stream(t, "/devices/events")
		b.move("aurora", "occupancy", "occupied")
		id, kind, data := s.event()
		if kind != "occupancyChanged" || !strings.HasPrefix(data, `{"eventType":"occupancyChanged","timestamp":"`) {
			t.Fatalf("it tells %s %s", kind, data)
		}
		s.close()

		b.move("aurora", "temperature", "35")
		time.Sleep(5 * time.Second)
		s = b.stream(t, "/devices/events", "Last-Event-ID: "+id)
		defer s.close()
		if _, kind, data := s.event(); kind != "statusChanged" || !strings.Contains(data, `"device":"temperature"`) {
			t.Errorf("resumed, it tells %s %s", kind, data)
		}
		if _, kind, _ := s.event(); kind != "temperatureAlert" {
			t.Errorf("then %s", kind)
		}
	})
}

func TestStreamFromTheBeginningWithAFilter(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		s := b.stream(t, "/devices/"+borealis+"/events?cursor=0&device_type=fan")
		defer s.close()
		if _, kind, data := s.event(); kind != "deviceOnline" || !strings.Contains(data, `"device":"fan"`) {
			t.Errorf("it tells %s %s", kind, data)
		}
		since := b.stream(t, "/devices/events?event_type=deviceOnline&since=1999-01-01T00:00:00Z")
		defer since.close()
		if _, kind, _ := since.event(); kind != "deviceOnline" {
			t.Errorf("since: %s", kind)
		}
		for _, last := range []string{"99999999", "of-another-product", "-1"} {
			foreign := b.stream(t, "/devices/events?event_type=deviceOnline", "Last-Event-ID: "+last)
			if word := foreign.block(); !strings.HasPrefix(word, ": Last-Event-ID is not from this log") {
				t.Errorf("%s: it begins with %q", last, word)
			}
			if _, kind, _ := foreign.event(); kind != "deviceOnline" {
				t.Errorf("%s: it tells %s", last, kind)
			}
			foreign.close()
		}
		checkProblem(t, "cursor of another log", b.ask("GET", "/devices/events?cursor=99999999", "Accept: text/event-stream"), 422, "invalid", "cursor")
	})
}

func TestSilentStreamBeats(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		s := b.stream(t, "/devices/events")
		defer s.close()
		for range 5 { // longer than every deadline of other requests
			start := time.Now()
			if got := s.block(); got != ": alive" || time.Since(start).Round(time.Second) != streamBeat {
				t.Fatalf("after %v it says %q", time.Since(start), got)
			}
		}
	})
}

func TestRevokedKeyEndsItsStreams(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		key, secret, err := b.agent.Access.CreateKey(t.Context(), "display", time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		s := b.stream(t, "/devices/events", "X-API-Key: "+secret)
		defer s.close()
		other := b.stream(t, "/devices/events")
		defer other.close()
		if got := b.ask("DELETE", "/gateway/keys/"+key.ID); got.StatusCode != 204 {
			t.Fatalf("revoke: %d %s", got.StatusCode, got.body)
		}
		start := time.Now()
		if rest, err := io.ReadAll(s.lines); len(rest) != 0 || err != nil {
			t.Errorf("the stream goes on with %q, %v", rest, err)
		}
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("it ended after %v", took)
		}
		b.move("aurora", "occupancy", "occupied")
		for _, want := range []string{"apiKeyRevoked", "occupancyChanged"} {
			if _, kind, _ := other.event(); kind != want {
				t.Errorf("the other stream tells %s, want %s", kind, want)
			}
		}
	})
}

func TestExpiredKeyEndsItsStreams(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		_, secret, err := b.agent.Access.CreateKey(t.Context(), "guest", time.Now().Add(40*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		s := b.stream(t, "/devices/events", "X-API-Key: "+secret)
		defer s.close()
		_, _ = io.Copy(io.Discard, s.lines)
		if took := time.Since(start); took < 40*time.Second || took > 42*time.Second {
			t.Errorf("it ended after %v", took)
		}
	})
}

// TestSlowReaderIsCutOff opens a stream and reads no more.
func TestSlowReaderIsCutOff(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		s := b.stream(t, "/devices/events")
		defer s.close()
		b.move("aurora", "occupancy", "occupied")
		for range 60 {
			time.Sleep(time.Second)
			if b.server.streams.open.Load() == 0 {
				return
			}
		}
		t.Error("the stream is still open")
	})
}
