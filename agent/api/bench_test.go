package api

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"
)

// benchConns is how many keep-alive connections ask at the same time.
const benchConns = 32

// BenchmarkStatus compares the whole status operation with a bare handler
// that parses the same body and answers as much, over loopback, in turns so
// that both see the same machine. The goal is a ratio of 0.9.
func BenchmarkStatus(b *testing.B) {
	building := openBuilding(b)
	defer func() { building.end() }()
	ctx, cancel := context.WithCancel(context.Background())
	var servers sync.WaitGroup
	defer servers.Wait()
	defer cancel()

	ours := listen(b)
	servers.Go(func() { _ = building.server.Serve(ctx, ours, building.server.Handler()) })
	limit := listen(b)
	bare := &http.Server{Handler: http.HandlerFunc(bareStatus), ReadHeaderTimeout: time.Minute}
	servers.Go(func() { _ = bare.Serve(limit) })
	defer bare.Close()

	request := []byte("POST /devices/" + aurora + "/status HTTP/1.1\r\nHost: h\r\nX-API-Key: " + systemKey +
		"\r\nContent-Type: application/json\r\nContent-Length: " + strconv.Itoa(len(benchBody)) + "\r\n\r\n" + benchBody)
	clients := [2][]*benchClient{dialAll(b, ours.Addr().String()), dialAll(b, limit.Addr().String())}
	var took [2]time.Duration
	b.ResetTimer()
	for left := b.N; left > 0; {
		n := min(left, 2000)
		for i := range clients {
			took[i] += run(b, clients[i], request, n)
		}
		left -= n
	}
	b.StopTimer()
	for i := range clients {
		for _, c := range clients[i] {
			_ = c.conn.Close()
		}
	}
	b.ReportMetric(float64(b.N)/took[0].Seconds(), "req/s")
	b.ReportMetric(float64(b.N)/took[1].Seconds(), "bare-req/s")
	b.ReportMetric(took[1].Seconds()/took[0].Seconds(), "ratio")
	b.ReportMetric(float64((took[0]+took[1]).Nanoseconds())/float64(2*b.N), "ns/op")
}

const benchBody = `{"device_type":"o3-sensor","sub_device":"temperature"}`

// bareStatus is the limit: what net/http and encoding/json cost.
func bareStatus(w http.ResponseWriter, r *http.Request) {
	var body struct {
		DeviceType string `json:"device_type"`
		SubDevice  string `json:"sub_device"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body.DeviceType == "" {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(bareAnswer)
}

// bareAnswer has 200 bytes.
var bareAnswer = []byte(`{"response":{"device":"temperature","value":"21.5","status":"normal","pad":"` + pad + `"}}`)

const pad = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

func listen(b *testing.B) net.Listener {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	return l
}

// benchClient is one keep-alive connection. It is no http.Client, which costs
// more than what is measured.
type benchClient struct {
	conn   net.Conn
	reader *bufio.Reader
}

func dialAll(b *testing.B, address string) []*benchClient {
	all := make([]*benchClient, benchConns)
	for i := range all {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			b.Fatal(err)
		}
		all[i] = &benchClient{conn, bufio.NewReader(conn)}
	}
	return all
}

// run sends n requests over all connections and returns the time it took.
func run(b *testing.B, clients []*benchClient, request []byte, n int) time.Duration {
	start := time.Now()
	var group sync.WaitGroup
	for i, c := range clients {
		group.Go(func() {
			for range (n + i) / len(clients) {
				if err := c.ask(request); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	return time.Since(start)
}

// ask sends the request and reads the answer up to its end.
func (c *benchClient) ask(request []byte) error {
	if _, err := c.conn.Write(request); err != nil {
		return err
	}
	length := 0
	for {
		line, err := c.reader.ReadSlice('\n')
		if err != nil {
			return err
		}
		if len(line) == 2 {
			break
		}
		if name := "Content-Length: "; len(line) > len(name) && string(line[:len(name)]) == name {
			if length, err = strconv.Atoi(string(line[len(name) : len(line)-2])); err != nil {
				return err
			}
		}
	}
	_, err := c.reader.Discard(length)
	return err
}

// BenchmarkStatusHandler is the handler alone, without net/http's part, for
// each kind of credential.
func BenchmarkStatusHandler(b *testing.B) {
	building := openBuilding(b)
	defer func() { building.end() }()
	_, secret, err := building.agent.Access.CreateOrgKey(b.Context(), auroraOrg, "app", []string{"devices:read"}, time.Time{})
	if err != nil {
		b.Fatal(err)
	}
	p, _ := building.agent.AuthenticateKey(secret)
	token, _, err := building.agent.Access.Token(p, nil, 0)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("system", func(b *testing.B) { benchHandler(b, building, "X-API-Key: "+systemKey) })
	b.Run("organization", func(b *testing.B) { benchHandler(b, building, "X-Org-Api-Key: "+secret) })
	b.Run("token", func(b *testing.B) { benchHandler(b, building, "Authorization: Bearer "+token) })
}

func benchHandler(b *testing.B, building *building, credential string) {
	h := building.server.Handler()
	body := &rereadable{}
	r := newRequest(b, "POST", "/devices/"+aurora+"/status", credential)
	r.Header.Set("Content-Type", "application/json")
	r.Body = io.NopCloser(body)
	w := &discard{header: http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		body.sent = false
		clear(w.header)
		h.ServeHTTP(w, r)
	}
	if w.status != 0 {
		b.Errorf("answer is %d", w.status)
	}
}

// rereadable is a body that is read again and again.
type rereadable struct{ sent bool }

func (l *rereadable) Read(p []byte) (int, error) {
	if l.sent {
		return 0, io.EOF
	}
	l.sent = true
	return copy(p, benchBody), io.EOF
}

type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(status int)      { d.status = status }
