package sim

import (
	"bytes"
	"crypto/tls"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
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
	faults   `yaml:"-"`
	Address  string `yaml:"address"`
	Path     string `yaml:"path"` // /snapshot.jpg if empty
	Auth     string `yaml:"auth"` // none (also if empty), basic, digest, both
	Username string `yaml:"username"`
	Password string `yaml:"password"`
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

func (*Camera) subjects() []string { return nil }

func (c *Camera) attach(w *World) error {
	if c.Path == "" {
		c.Path = "/snapshot.jpg"
	}
	c.mood = cameraWell
	c.inbox = newInbox(c.Address)
	c.server = &http.Server{Handler: c, ReadHeaderTimeout: time.Minute}
	if err := w.listenPart(c.Address, &c.faults, c.serve); err != nil {
		return err
	}
	w.run(func() { _ = c.server.Serve(c.inbox) }) // ends by the Close below, and says so
	w.run(func() {
		<-c.done
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
	c.ring()
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
		case <-c.done:
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
	data := testPicture(time.Now())
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
		for err := error(nil); err == nil && !isDone(c.done); {
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

// testPicture is testImage as a JPEG.
func testPicture(t time.Time) []byte {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, testImage(t), nil); err != nil {
		return nil
	}
	return b.Bytes()
}

// testImage has color bars, and below them the seconds of t in black and
// white, most significant first.
func testImage(t time.Time) image.Image {
	const width, height, bars, bits = 640, 360, 8, 32
	m := image.NewRGBA(image.Rect(0, 0, width, height))
	for i := range bars {
		ink := color.RGBA{uint8(255 * (i >> 1 & 1)), uint8(255 * (i >> 2 & 1)), uint8(255 * (i & 1)), 255}
		box := image.Rect(i*width/bars, 0, (i+1)*width/bars, height*3/4)
		draw.Draw(m, box, image.NewUniform(ink), image.Point{}, draw.Src)
	}
	for i := range bits {
		ink := color.Gray{uint8(255 * (t.Unix() >> (bits - 1 - i) & 1))}
		box := image.Rect(i*width/bits, height*3/4, (i+1)*width/bits, height)
		draw.Draw(m, box, image.NewUniform(ink), image.Point{}, draw.Src)
	}
	return m
}

func (c *Camera) verbs(string) []verb {
	mood := func(name, answer string) verb { return always(name, answer, func() { c.Mood(name) }) }
	return []verb{
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

func (c *Camera) state() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mood + ", " + strconv.Itoa(c.pictures) + " pictures so far"
}
