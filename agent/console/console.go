package console

import (
	"bytes"
	"crypto/rand"
	"embed"
	"html/template"
	"net/url"
	"sync"
	"time"

	"roomgate/agent"
	"roomgate/agent/access"
	"roomgate/agent/booking"
	"roomgate/agent/errand"
	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/agent/rule"
	"roomgate/agent/setup"
	"roomgate/agent/web"
	"roomgate/cloud/guest"
)

//go:embed page
var pageFiles embed.FS

var pages = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(helpers).ParseFS(pageFiles, "page/*.html"))
})

// Options are what the console stands on.
type Options struct {
	Agent   *agent.Agent
	Version string // of the program
	// Findings are the last ones of the doctor, who looks again if they are older than that time;
	// nil: nobody examines the gateway.
	Findings func(since time.Time) Findings
	Errands  *errand.Errands
	// Machine is what devices are added to.
	Machine setup.Machine
	// Kinds are the types of events that there are.
	Kinds []string
	// Audited are those of what people and keys change.
	Audited []string
	// SeesRule says whether somebody sees a rule.
	SeesRule func(who *access.Principal, r rule.Rule) bool
	// SeenBy is a booking as somebody sees it, and EventsSeenBy are events so.
	SeenBy       func(who *access.Principal, b booking.Booking) booking.Booking
	EventsSeenBy func(who *access.Principal, found []eventlog.Event) []eventlog.Event
}

// Console makes the pages. It may be used by many.
type Console struct {
	o       Options
	looking looking
	outages outages
}

// New returns the console of a building.
func New(o Options) *Console {
	return &Console{o: o, looking: looking{building: guest.Places{Most: maxLooking}, others: guest.Places{Most: maxVisiting}}}
}

// Look is who looks at what.
type Look struct {
	*Console
	Who   access.Principal
	Query url.Values // of the page's address

	plotted plotted
	recent  eventlog.Recent // of the log, on a page that shows some
}

// Role is that of who looks.
func (l *Look) Role() Role { return RoleOf(l.Who) }

// Head is what the script has to know of a frame.
type Head struct {
	Title   string `json:"title"`   // of the window
	Heading string `json:"heading"` // of the page
	// Build is that of script, stylesheet and program: a page of another one loads again.
	Build string `json:"build"`
}

// frame is all that a page shows.
type frame struct {
	Name     string // of the section
	Sections []Link // the navigation
	Gateway  string
	Notices  []Notice
	Body     any
}

// Link is a page by its name.
type Link struct{ Name, Title string }

// Notice is what is wrong, wherever one looks.
type Notice struct{ Text, Fix string }

// Feed is what somebody sees of a section. Each who looks has one of his own.
func (c *Console) Feed(name string, who access.Principal, query url.Values) (*web.Feed[any], error) {
	l := &Look{Console: c, Who: who, Query: query}
	s, known := find(name)
	if !known {
		return nil, problem.New(problem.NotFound, "section", "is not a page of the console: open /console")
	}
	if err := l.mayOpen(s); err != nil {
		return nil, err
	}
	// A page that comes back has another feed: it is told all.
	return web.NewFeed(rand.Text(), web.Source[any]{
		Changed: c.o.Agent.Events.Changed,
		View: func() (any, time.Time, error) {
			body, until, err := s.View(l)
			return frame{s.Name, l.navigation(), c.name(), l.notices(), body}, until, err
		},
		Render: func(v any) ([]web.Part, any, error) { return c.render(v.(frame)) },
	}), nil
}

// name is the gateway's.
func (c *Console) name() string {
	i := c.o.Agent.Health.Identity()
	if i.Name != "" {
		return i.Name
	}
	return i.ID
}

// navigation are the sections that who looks may see.
func (l *Look) navigation() (all []Link) {
	for _, s := range sections() {
		if !s.Hidden && l.Role() >= s.Least {
			all = append(all, Link{s.Name, s.Title})
		}
	}
	return all
}

func (c *Console) render(f frame) (parts []web.Part, head any, err error) {
	s, _ := find(f.Name)
	for _, name := range []string{"nav", "notice"} {
		html, err := Render(name, f)
		if err != nil {
			return nil, nil, err
		}
		parts = append(parts, web.Part{Name: name, HTML: html})
	}
	for _, name := range s.Parts {
		html, err := Render(f.Name+"-"+name, f.Body)
		if err != nil {
			return nil, nil, err
		}
		parts = append(parts, web.Part{Name: name, HTML: html})
	}
	title := s.Title
	if h, ok := f.Body.(heading); ok {
		title = h.Heading()
	}
	return parts, Head{title + " - " + f.Gateway, title, c.build()}, nil
}

// Render executes a template.
func Render(name string, data any) ([]byte, error) {
	var out bytes.Buffer
	if err := pages().ExecuteTemplate(&out, name, data); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(out.Bytes()), nil
}

// build tells the pages of this program from those of another.
func (c *Console) build() string {
	return c.o.Version + " " + web.AssetName("console.js") + " " + web.AssetName("console.css")
}

// shell is the page before it has read its stream. It holds no secret.
type shell struct {
	Section
	Mail                 bool   // a code can be sent by e-mail
	State                string // of the page until its script says another
	Script, Style, Build string // no script: there is nothing to follow
}

// Shell makes the page of a section; found is false for one that there is not. Its name is
// whatever somebody has made a link of: no script may go by it.
func (c *Console) Shell(name string) (html []byte, found bool, err error) {
	s, found := find(name)
	view := shell{s, c.o.Agent.Access.Mails, "wait", web.AssetPath("console.js"), web.AssetPath("console.css"), c.build()}
	if !found {
		view.Section, view.State, view.Script = Section{Title: "No such page"}, "none", ""
	}
	html, err = Render("shell", view)
	return html, found, err
}

// Panel makes a dialog.
func (c *Console) Panel(name string, who access.Principal, query url.Values) ([]byte, error) {
	l := &Look{Console: c, Who: who, Query: query}
	s, view, known := panel(name)
	if !known {
		return nil, problem.New(problem.NotFound, "panel", "is not a part of the console: load the page again")
	}
	if err := l.mayOpen(s); err != nil {
		return nil, err
	}
	v, err := view(l)
	if err != nil {
		return nil, err
	}
	return Render("panel-"+name, v)
}
