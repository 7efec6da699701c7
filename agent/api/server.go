package api

import (
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"roomgate/agent"
	"roomgate/agent/console"
	"roomgate/agent/errand"
	"roomgate/agent/problem"
	"roomgate/agent/setup"
	"roomgate/cloud/guest"
)

// Options say what a Server serves.
type Options struct {
	Agent   *agent.Agent
	Log     *slog.Logger // nil: slog.Default
	Version string       // of the program, for the browsable page
	// Origins are those whose pages may read answers, as "https://book.example".
	Origins []string
	// Names are the gateway's besides those that it knows itself, as "rooms.example.com".
	Names []string
	// ShowClaim shows the claim code to the network at any time, as a demo does.
	ShowClaim bool
	// Extra are handlers for the control socket only, by "METHOD /path", in which
	// "{name}" stands for any one segment.
	Extra map[string]http.Handler
	// Metrics writes further figures in the Prometheus text format; nil: none.
	Metrics func(io.Writer)
	// Findings are the last ones of the doctor, who looks again if they are older than that time;
	// nil: nobody examines the gateway.
	Findings func(since time.Time) console.Findings
	// Errands are how what takes long is done that somebody begins at the console.
	Errands errand.Means
	// Machine is what the console adds devices to.
	Machine setup.Machine
	// Root is the root certificate of the building's own authority, as PEM; nil: there
	// is none.
	Root func() []byte
}

// Server answers requests about one building. It is ready once made; Serve
// may be called for several listeners.
type Server struct {
	agent      *agent.Agent
	log        *slog.Logger
	version    string
	origins    []string
	names      []string        // besides those of isOwnName
	showing    bool            // the claim code, at any time
	metrics    func(io.Writer) // besides the building's; nil: none
	root       func() []byte   // nil: no authority of its own
	network    *door
	control    *door
	entrance   entrance
	visibility visibility
	streams    streams
	pictures   guest.Turns[string] // one is unpacked at a time
	bodies     *bodies             // of large requests that are being read
	answers    guest.Places        // large answers that are being read
	counts     counts
	limiters   *limiters
	paces      paces
	pages
}

// pages are what people look at.
type pages struct {
	doors   *doors // of the rooms
	console *console.Console
	errands *errand.Errands // that are begun there
}

func newPages(o Options) pages {
	errands := newErrands(o)
	return pages{newDoors(o.Agent), newConsole(o, errands), errands}
}

// New returns a server of o.Agent.
func New(o Options) *Server {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	s := &Server{
		agent:      o.Agent,
		log:        o.Log,
		version:    o.Version,
		origins:    o.Origins,
		names:      o.Names,
		showing:    o.ShowClaim,
		metrics:    o.Metrics,
		root:       o.Root,
		entrance:   entrance{o.Agent, o.Log, newTries()},
		visibility: visibility{o.Agent},
		streams:    streams{agent: o.Agent, visibility: visibility{o.Agent}, log: o.Log, waiters: guest.Places{Most: maxWaiters}},
		limiters:   newLimiters(),
		paces:      newPaces(),
		pages:      newPages(o),
		pictures:   guest.Turns[string]{Most: 1},
		bodies:     &bodies{},
		answers:    guest.Places{Most: maxAnswers},
	}
	s.network = newDoor(s, routes(), false)
	s.control = newDoor(s, append(routes(), extraRoutes(o.Extra)...), true)
	return s
}

// Handler serves the network: most operations need a credential.
func (s *Server) Handler() http.Handler { return s.network }

// Control serves the control socket, which file permissions guard: anybody who
// reaches it may do everything.
func (s *Server) Control() http.Handler { return s.control }

// door is one way into the server.
type door struct {
	server  *Server
	control bool
	router  *router
}

func newDoor(s *Server, table []route, control bool) *door {
	return &door{server: s, control: control, router: newRouter(table)}
}

// ServeHTTP finds the operation, asks for the credential, and answers.
func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if len(r.TransferEncoding) > 0 {
		// It may have had a Content-Length too, of which net/http does not tell: what
		// follows is not taken for a request (RFC 9112 section 6.3).
		w.Header().Set("Connection", "close")
	}
	c := newCall(w, r)
	c.bodies = d.server.bodies
	if !d.control {
		c.limiter, c.answers = &d.server.limiters.quick, &d.server.answers
	}
	defer d.leave(c)
	if err := d.serve(c); err != nil {
		c.fail(d.server.log, err)
	}
}

func (d *door) serve(c *call) error {
	if len(d.server.origins) > 0 && d.welcome(c) {
		return nil
	}
	p := d.router.find(c.r.URL, &c.params)
	if p == nil {
		return d.missing(c)
	}
	o, err := p.find(c)
	if err != nil {
		return err
	}
	c.v2, c.wording = o.v2, o.wording
	c.operation, c.server = o, d.server
	if !d.control {
		c.limiter, c.reading = d.server.limiters.of(o), o.reading
	}
	if err := d.checkName(c.r, o); err != nil {
		return err
	}
	if err := d.admit(c, o); err != nil {
		return err
	}
	if err := d.server.pace(c, 1); err != nil {
		return err
	}
	c.toAudit()
	if o.successor != nil {
		c.succeed(o.successor)
	}
	if c.reading && o.method == http.MethodGet {
		if err := c.work(); err != nil {
			return err
		}
		if err := c.again(); err != nil {
			return err
		}
	}
	return o.handle(d.server, c)
}

// leave counts the answer. A handler that panicked costs its own request only.
func (d *door) leave(c *call) {
	s := d.server
	c.rest()
	if cause := recover(); cause != nil {
		if cause == http.ErrAbortHandler {
			panic(cause)
		}
		s.log.Error("request handler panicked", "method", c.r.Method, "path", c.r.URL.Path, "cause", cause, "stack", string(debug.Stack()))
		if c.status == 0 {
			c.fail(s.log, &problem.Error{Code: problem.Internal, Message: "internal error, see the gateway's log"})
		}
		s.counts.answered(c.status)
		return // what the handler still holds of the call is unknown
	}
	s.counts.answered(c.status)
	c.release()
}
