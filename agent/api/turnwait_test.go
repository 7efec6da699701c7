package api

import (
	"bufio"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// occupied takes every turn of every limiter, and returns how to give them back.
func (l *limiters) occupied(t *testing.T) (free func()) {
	t.Helper()
	all := []*limiter{&l.reads, &l.quick, &l.health}
	for _, limiter := range all {
		for range limiter.Most {
			if !limiter.Take(t.Context(), reader{who: "eve"}) {
				t.Fatal("no turn is left")
			}
		}
	}
	return func() {
		for _, limiter := range all {
			for range limiter.Most {
				limiter.Done()
			}
		}
	}
}

// TestNoGuestIsWorkBeyondItsTurn asks for every operation without a credential and
// with a wrong one, for what is not there, and for what a good key may read. While
// all turns are taken nobody is answered, so that any number of clients is no more
// work at one time than there are turns. Afterwards all are.
func TestNoGuestIsWorkBeyondItsTurn(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		b.server.origins = []string{"https://book.example"}
		for half := range slices.Chunk(routes(), len(routes())/2+1) { // all at once are more connections than one address may have
			b.askBeyondTurns(t, half)
		}
	}, tenants)
}

func (b *building) askBeyondTurns(t *testing.T, some []route) {
	free := b.server.limiters.occupied(t)
	asked, answered := 0, make(chan string, 2000)
	ask := func(method, path string, parts ...string) {
		asked++
		go func() {
			b.net.do(t, method, path, parts...)
			answered <- method + " " + path
		}()
	}
	for _, r := range some {
		path := strings.NewReplacer("{meeting_space_id}", aurora, "{device_id}", "aurora-light", "{device_type}", "light").Replace(r.path)
		for _, header := range []string{"", "X-API-Key: wrong", "X-Org-Api-Key: wrong", "Authorization: Bearer wrong"} {
			parts := []string{header}
			if r.method != "GET" {
				parts = append(parts, `{"":`) // whatever is wrong
			}
			ask(r.method, path, parts...)
		}
		ask("TRACE", path)
	}
	key := "X-API-Key: " + systemKey
	ask("GET", "/nothing")
	ask("GET", "//")
	ask("OPTIONS", "/bookings", "Origin: https://book.example", "Access-Control-Request-Method: GET")
	ask("POST", "/devices/"+aurora+"/status", key, `{"device_type":"all"}`)
	ask("POST", "/devices/"+aurora+"/status", key, `{"device_type":"light"}`)
	ask("POST", "/devices/"+aurora+"/control", key, `{"device_type":"light"}`)
	ask("POST", "/bookings", key, `{"minutes":"many"}`)
	synctest.Wait()
	if early := len(answered); early > 0 {
		t.Errorf("%d of %d are answered before their turn, as %s", early, asked, <-answered)
		asked--
	}
	free()
	for range asked {
		<-answered
	}
	b.server.limiters.occupied(t)() // all are back
}

// TestWhoSendsSlowlyTakesNoTurn: half a body is no work.
func TestWhoSendsSlowlyTakesNoTurn(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		slow := b.net.mustDial(t)
		defer slow.Close()
		if _, err := io.WriteString(slow, "POST /devices/"+aurora+"/status HTTP/1.1\r\nHost: h\r\nX-API-Key: "+systemKey+
			"\r\nContent-Type: application/json\r\nContent-Length: 23\r\n\r\n{\"device_type\""); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		got := b.ask("POST", "/devices/"+aurora+"/status", `{"device_type":"light"}`)
		if got.StatusCode != http.StatusOK {
			t.Errorf("beside a slow one status gets %d", got.StatusCode)
		}
		go func() { _, _ = io.WriteString(slow, `:"light"}`) }()
		if r, err := http.ReadResponse(bufio.NewReader(slow), nil); err != nil || r.StatusCode != http.StatusOK {
			t.Errorf("the slow one gets %v, %v", r, err)
		}
	})
}
