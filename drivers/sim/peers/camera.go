package peers

import (
	"crypto/tls"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"roomgate/drivers/sim"
)

// The faults of a camera's answers.
const (
	cameraWell     = "well"
	cameraFail     = "fail"     // 503 to everything
	cameraTruncate = "truncate" // half a picture, in an answer that is whole
	cameraAbort    = "abort"    // the answer breaks off
	cameraHang     = "hang"     // the answer never comes
	cameraEndless  = "endless"  // the answer never ends
	cameraElse     = "else"     // a page instead of a picture
	cameraStray    = "stray"    // a redirect to another host
)

// Camera is a network camera: GET Path gives a JPEG test picture with the time
// on it in bits.
type Camera struct {
	sim.Faults `yaml:"-"`
	Address    string `yaml:"address"`
	Path       string `yaml:"path"` // /snapshot.jpg if empty
	Auth       string `yaml:"auth"` // none (also if empty), basic, digest, both
	Username   string `yaml:"username"`
	Password   string `yaml:"password"`
	// Algorithm of digest authentication: MD5 (also if empty) or SHA-256.
	Algorithm string `yaml:"algorithm"`
	// Certificate makes it an https camera.
	Certificate *tls.Certificate `yaml:"-"`

	server *http.Server
	inbox  *inbox

	mu       sync.Mutex
	mood     string
	pictures int
	nonces   nonces
}

// Attach wires it into the world.
func (c *Camera) Attach(w *sim.World) error {
	if c.Path == "" {
		c.Path = "/snapshot.jpg"
	}
	c.mood = cameraWell
	c.inbox = newInbox(c.Address)
	c.server = &http.Server{Handler: c, ReadHeaderTimeout: time.Minute}
	if err := w.ListenPart(c.Address, &c.Faults, c.serve); err != nil {
		return err
	}
	w.Run(func() { _ = c.server.Serve(c.inbox) }) // ends by the Close below, and says so
	w.Run(func() {
		<-c.Done()
		_ = c.server.Close()
	})
	return nil
}

// serve hands a connection to the server and waits until it is done with it.
func (c *Camera) serve(conn net.Conn) {
	if c.Certificate != nil {
		conn = tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{*c.Certificate}})
	}
	c.inbox.put(conn)
}

// Mood changes how the camera answers: well, fail (503), truncate, abort,
// hang, endless, else or stray.
func (c *Camera) Mood(mood string) {
	c.mu.Lock()
	c.mood = mood
	c.mu.Unlock()
}

// Pictures is how many pictures were given away.
func (c *Camera) Pictures() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pictures
}

// ServeHTTP answers a request.
func (c *Camera) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	mood := c.mood
	c.mu.Unlock()
	switch {
	case mood == cameraFail:
		http.Error(w, "busy", http.StatusServiceUnavailable)
	case mood == cameraHang:
		select {
		case <-r.Context().Done():
		case <-c.Done():
		}
	case r.URL.Path == "/again" && mood == cameraWell:
		http.Redirect(w, r, c.Path, http.StatusFound)
	case mood == cameraStray:
		http.Redirect(w, r, "http://elsewhere.example/picture.jpg", http.StatusFound)
	case r.URL.Path != c.Path:
		http.NotFound(w, r)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		http.Error(w, "method", http.StatusMethodNotAllowed)
	case !c.admits(w, r):
		http.Error(w, "login", http.StatusUnauthorized)
	default:
		c.answer(w, r, mood)
	}
}

func (c *Camera) answer(w http.ResponseWriter, r *http.Request, mood string) {
	data := sim.TestCard(time.Now())
	w.Header().Set("Content-Type", "image/jpeg")
	if r.Method == http.MethodHead {
		return
	}
	switch mood {
	case cameraTruncate:
		data = data[:len(data)/2]
	case cameraAbort:
		w.Header().Set("Content-Length", strconv.Itoa(len(data)))
		data = data[:len(data)/2]
	case cameraElse:
		w.Header().Set("Content-Type", "text/html")
		data = []byte("<html>please update your browser</html>")
	case cameraEndless:
		for err := error(nil); err == nil && !over(c.Done()); {
			_, err = w.Write(data)
		}
		return
	case cameraWell:
		c.mu.Lock()
		c.pictures++
		c.mu.Unlock()
	}
	_, _ = w.Write(data) // a client that has gone is not the camera's worry
}

// over says whether a channel is closed.
func over(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

// Verbs are what it obeys.
func (c *Camera) Verbs(string) []sim.Verb {
	mood := func(name, answer string) sim.Verb { return sim.Always(name, answer, func() { c.Mood(name) }) }
	return []sim.Verb{
		mood(cameraWell, "it answers as it should"),
		mood(cameraFail, "it answers 503"),
		mood(cameraTruncate, "it sends half a picture"),
		mood(cameraAbort, "its answers break off"),
		mood(cameraHang, "it does not answer"),
		mood(cameraEndless, "its answers do not end"),
		mood(cameraElse, "it sends a page for a picture"),
		mood(cameraStray, "it redirects to another host"),
	}
}

// State says how it is.
func (c *Camera) State() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mood + ", " + strconv.Itoa(c.pictures) + " pictures so far"
}
