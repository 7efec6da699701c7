package peers

import (
	"crypto/md5"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"hash"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// cameraRealm is the realm of a camera's login.
const cameraRealm = "camera"

// maxNonces bounds the nonces that a camera accepts.
const maxNonces = 32

// nonces are those that were given out and not yet used, oldest first.
type nonces []string

// admits says whether a request has the login that the camera wants, and asks
// for it if not.
func (c *Camera) admits(w http.ResponseWriter, r *http.Request) bool {
	basic, digest := c.Auth == "basic" || c.Auth == "both", c.Auth == "digest" || c.Auth == "both"
	if !basic && !digest {
		return true
	}
	if user, password, ok := r.BasicAuth(); ok && basic {
		return same(user, c.Username) && same(password, c.Password)
	}
	if digest && c.proves(r) {
		return true
	}
	if basic {
		w.Header().Add("WWW-Authenticate", `Basic realm="`+cameraRealm+`"`)
	}
	if digest {
		w.Header().Add("WWW-Authenticate", fmt.Sprintf(`Digest realm="%s", qop="auth", algorithm=%s, nonce="%s"`,
			cameraRealm, c.algorithm(), c.nonce()))
	}
	return false
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

func (c *Camera) algorithm() string {
	if c.Algorithm == "" {
		return "MD5"
	}
	return c.Algorithm
}

func (c *Camera) nonce() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := rand.Text()
	c.nonces = append(c.nonces, n)
	c.nonces = slices.Delete(c.nonces, 0, max(0, len(c.nonces)-maxNonces))
	return n
}

// use takes a nonce out: this camera accepts each of them once.
func (c *Camera) use(n string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.nonces, n)
	if i >= 0 {
		c.nonces = slices.Delete(c.nonces, i, i+1)
	}
	return i >= 0
}

// digestField is name="value" or name=value (RFC 7616, 3.4).
var digestField = regexp.MustCompile(`(\w+)=(?:"([^"]*)"|([^\s,]+))`)

// proves checks a digest: the response is H(H(user:realm:password) : nonce :
// nc : cnonce : qop : H(method:uri)), RFC 7616, 3.4.1.
func (c *Camera) proves(r *http.Request) bool {
	rest, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Digest ")
	if !ok {
		return false
	}
	f := map[string]string{}
	for _, m := range digestField.FindAllStringSubmatch(rest, 64) {
		f[m[1]] = m[2] + m[3]
	}
	if f["realm"] != cameraRealm || f["qop"] != "auth" || f["uri"] != r.URL.RequestURI() || !c.use(f["nonce"]) {
		return false
	}
	secret := c.hash(c.Username, cameraRealm, c.Password)
	want := c.hash(secret, f["nonce"], f["nc"], f["cnonce"], f["qop"], c.hash(r.Method, f["uri"]))
	return same(f["username"], c.Username) && same(f["response"], want)
}

func (c *Camera) hash(parts ...string) string {
	var h hash.Hash = md5.New()
	if c.algorithm() == "SHA-256" {
		h = sha256.New()
	}
	h.Write([]byte(strings.Join(parts, ":")))
	return hex.EncodeToString(h.Sum(nil))
}

// inbox is a net.Listener for connections that come from the world.
type inbox struct {
	address host
	conns   chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

func newInbox(address string) *inbox {
	return &inbox{address: host(address), conns: make(chan net.Conn), closed: make(chan struct{})}
}

// put hands a connection over and returns when it was closed.
func (i *inbox) put(c net.Conn) {
	l := &lent{Conn: c, closed: make(chan struct{})}
	select {
	case i.conns <- l:
		<-l.closed
	case <-i.closed:
	}
}

// Accept waits for a connection.
func (i *inbox) Accept() (net.Conn, error) {
	select {
	case c := <-i.conns:
		return c, nil
	case <-i.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept.
func (i *inbox) Close() error {
	i.once.Do(func() { close(i.closed) })
	return nil
}

// Addr is where the camera listens.
func (i *inbox) Addr() net.Addr { return i.address }

// host is a host:port.
type host string

func (host) Network() string  { return "tcp" }
func (h host) String() string { return string(h) }

// lent is a connection of which we want to know when it is given back.
type lent struct {
	net.Conn
	once   sync.Once
	closed chan struct{}
}

// Close closes the connection.
func (l *lent) Close() error {
	err := l.Conn.Close()
	l.once.Do(func() { close(l.closed) })
	return err
}
