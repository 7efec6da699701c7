package api

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// TestAnswersThatNobodyReadsAreBounded: one client asks for large answers on many
// connections and reads none. No more wait for it than may, the others of its own
// are refused, and for somebody else one of its makes room.
func TestAnswersThatNobodyReadsAreBounded(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		body := make([]byte, 2*largeAnswer)
		give := func(_ *Server, c *call) error { return c.text("text/plain", body) }
		*b.server.network = *newDoor(b.server, append(routes(), route{"GET", "/large", permitAny, give, ""}, route{"POST", "/large", permitAny, give, ""}), false)
		_, other := b.orgKey(t, auroraOrg, "devices:read")
		mine := "X-API-Key: " + systemKey
		var unread []net.Conn
		for range maxAnswers {
			conn := b.net.mustDial(t)
			defer conn.Close()
			if _, err := fmt.Fprintf(conn, "GET /large HTTP/1.1\r\nHost: h\r\n%s\r\n\r\n", mine); err != nil {
				t.Fatal(err)
			}
			unread = append(unread, conn)
		}
		synctest.Wait()
		if got := b.net.do(t, "GET", "/large", mine); got.StatusCode != http.StatusServiceUnavailable || got.Header.Get("Retry-After") == "" {
			t.Errorf("one more of the same client gets %d", got.StatusCode)
		}
		if got := b.net.do(t, "POST", "/large", mine); got.StatusCode != http.StatusOK {
			t.Errorf("what is done already gets %d", got.StatusCode)
		}
		if got := b.net.do(t, "GET", "/large", other); got.StatusCode != http.StatusOK || len(got.body) != 2*largeAnswer {
			t.Errorf("somebody else gets %d with %d bytes", got.StatusCode, len(got.body))
		}
		synctest.Wait() // what made room is closed
		cut := 0
		for _, conn := range unread {
			_ = conn.SetReadDeadline(time.Now().Add(time.Millisecond))
			if n, _ := io.Copy(io.Discard, conn); n < 2*largeAnswer {
				cut++
			}
		}
		if cut != 1 {
			t.Errorf("%d made room, want 1", cut)
		}
	}, tenants)
}
