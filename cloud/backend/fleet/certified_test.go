package fleet

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/cloud"
	"roomgate/cloud/authority"
	"roomgate/cloud/backend"
	"roomgate/cloud/backend/backendtest"
)

const claimCode = "7K3M-QX9D-0ABC-DEF1"

// claimedByLink is a gateway that takes each claim and asks for its certificate, and never sends a receipt here.
func claimedByLink(t *testing.T, url, id string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	request, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: id}}, key)
	if err != nil {
		t.Fatal(err)
	}
	topics := cloud.Topics{Gateway: id}
	sealed := make(chan cloud.Message, 10)
	ctx, stop := context.WithCancel(context.Background())
	up := make(chan bool, 10)
	l := cloud.NewLink(cloud.LinkOptions{URL: url, ClientID: id, Subscribe: []string{topics.Down(cloud.LevelClaim)}, Log: slog.New(slog.DiscardHandler),
		Up: func(context.Context) { up <- true }, Receive: func(_ context.Context, m cloud.Message) error { sealed <- m; return nil }})
	ended := make(chan bool, 2)
	go func() { _ = l.Run(ctx); ended <- true }()
	go func() {
		defer func() { ended <- true }()
		for {
			select {
			case <-ctx.Done():
				return
			case m := <-sealed:
				if err := l.Publish(ctx, enrolRequest(topics, m, request)); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
		}
	}()
	t.Cleanup(func() { stop(); <-ended; <-ended })
	<-up
}

// enrolRequest is what a gateway sends that has taken a claim.
func enrolRequest(topics cloud.Topics, m cloud.Message, request []byte) cloud.Message {
	var claim backend.Claim
	var data struct {
		Sealed []byte `json:"sealed"`
	}
	e, err := cloud.Decode(m.Payload)
	err = errors.Join(err, json.Unmarshal(e.Data, &data))
	raw, wrong := cloud.Unseal(claimCode, m.Topic, data.Sealed)
	err = errors.Join(err, wrong, json.Unmarshal(raw, &claim))
	asks, wrong := cloud.SealEnrolled(claim.Enrolment, topics.Up(cloud.LevelEnrol), cloud.EnrolRequest{Request: request})
	raw, also := json.Marshal(asks)
	payload, last := (*backend.Signer)(nil).Encode(topics.Up(cloud.LevelEnrol), cloud.Envelope{ID: rand.Text(), Source: "roomgate/" + topics.Gateway, Type: cloud.TypeOf(cloud.LevelEnrol), Time: time.Now(), Data: raw})
	if err := errors.Join(err, wrong, also, last); err != nil {
		return cloud.Message{Topic: "wrong/" + err.Error()}
	}
	return cloud.Message{Topic: topics.Up(cloud.LevelEnrol), Payload: payload, QoS: 1}
}

// At the first broker no receipt comes: a gateway that asks by the secret of its claim has taken that. One
// that was sent out of its cell is admitted again, whatever the claims say.
func TestClaimIsDoneByTheRequest(t *testing.T) {
	t.Parallel()
	g, err := backendtest.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	ca, err := authority.Init(filepath.Join(t.TempDir(), "ca"), "gateways", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	admitted, inCell := 0, false
	f, err := Open(Options{Path: filepath.Join(t.TempDir(), "fleet.db"), Key: "secret", Authority: ca, Log: slog.New(slog.DiscardHandler), Broker: backend.Options{URL: g.URL(), ClientID: "fleet"},
		Admit:    func(id string) (string, string, error) { admitted, inCell = admitted+1, true; return id, "secret", nil },
		Admitted: func(string) (bool, error) { return inCell, nil }})
	if err != nil {
		t.Fatal(err)
	}
	defer runs(t, f)()
	claimedByLink(t, g.URL(), "hq")
	for _, step := range []struct {
		expelled bool
		want     int
	}{{false, 1}, {false, 1}, {true, 2}} {
		if step.expelled {
			inCell = false
		}
		if _, answer := ask(f, "secret", "POST", "/claims", `{"gateway_id":"hq","code":"`+claimCode+`","organization":"Acme"}`); !strings.Contains(answer, `"message_id":"`) {
			t.Fatal(answer)
		}
		until(t, f, "/claims", `"state":"done"`)
		if admitted != step.want {
			t.Errorf("%+v: it was admitted %d times", step, admitted)
		}
	}
}

// Strangers at the first broker do not fill the log.
func TestBadRequestsInTheLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ca, err := authority.Init(filepath.Join(t.TempDir(), "ca"), "gateways", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		f := &Fleet{o: Options{Authority: ca, Log: slog.New(slog.NewTextHandler(&log, nil))}, asks: make(chan wanted, mostAsks), warn: newWarn()}
		ctx, stop := context.WithCancel(t.Context())
		go f.certify(ctx)
		for range 300 {
			f.enrol(backend.Received{Gateway: "hq", Envelope: cloud.Envelope{Data: json.RawMessage(`{"sealed":"AAAA"}`)}})
		}
		synctest.Wait()
		stop()
		synctest.Wait()
		if n := strings.Count(log.String(), "\n"); n != 10 {
			t.Errorf("300 bad requests make %d lines", n)
		}
	})
}
