// Package config is the configuration of a gateway as a file says it: the
// types with their defaults, a strict YAML loader that names every mistake
// with its place, and the checks that need no hardware.
//
// # Why
//
// The loader walks the YAML tree itself instead of decoding it in one step,
// because an installer on a ladder needs all the mistakes at once, each with
// its line and the key that was meant, also inside a driver's own options.
package config

import (
	"strings"
	"time"

	"roomgate/agent/clock"
	"roomgate/drivers"
)

// Version is that of what a file may say. A key that goes away, or means something else,
// raises it; a new key does not.
const Version = 1

// Config is everything that a gateway is told at start.
type Config struct {
	Gateway Gateway `yaml:"gateway"`
	// Data is the folder of the database and the control socket.
	Data   string `yaml:"data"`
	HTTP   HTTP   `yaml:"http"`
	Cloud  Cloud  `yaml:"cloud"`
	Broker Broker `yaml:"broker"`
	Clock  Clock  `yaml:"clock"`
	// Doors says what of the cloud may open one.
	Doors Doors `yaml:"doors"`
	Store Store `yaml:"store"`
	// Update says whose updates are taken.
	Update Update `yaml:"update"`
	// Webhooks says where notifications may go.
	Webhooks Webhooks `yaml:"webhooks"`
	// Calendars says where linked calendars may be.
	Calendars Calendars `yaml:"calendars"`
	// Push is where messages to mobile devices go besides the cloud, Messages
	// which of them the building sends by itself.
	Push     Push     `yaml:"push"`
	Messages Messages `yaml:"messages"`
	// SMTP is the relay for mail, Auth how long people stay signed in, Users
	// who they are.
	SMTP  SMTP     `yaml:"smtp"`
	Auth  Auth     `yaml:"auth"`
	Users []Person `yaml:"users"`

	Spaces []Space `yaml:"spaces"`

	origins map[string]Origin
	kinds   []drivers.Kind // of which devices may be
	cut     []string       // keys of secrets behind which a comment stands
}

// Gateway is who this gateway is.
type Gateway struct {
	// ID is its name in topics: letters, digits, "-", "_" and ".", at most 64.
	ID   string `yaml:"id"`
	Name string `yaml:"name"`
}

// HTTP is the local interface.
type HTTP struct {
	Listen string  `yaml:"listen"` // host:port; the host may be empty
	TLS    HTTPTLS `yaml:"tls"`
	// Origins are those whose pages in a browser may use the interface, as
	// "https://book.example.com".
	Origins []string `yaml:"origins"`
	// Names are those that the gateway is asked by, as "rooms.example.com", besides
	// its address, the name of its machine and its id, each also with ".local".
	Names []string `yaml:"names"`
}

// TLS is whose certificate is shown: one with its key, as PEM files, or that of the
// building's own authority; neither: there is no TLS.
type TLS struct {
	Certificate string `yaml:"certificate"`
	Key         string `yaml:"key"`
	Authority   bool   `yaml:"authority"` // that of roomgate tls init
}

// On says whether there is TLS.
func (t TLS) On() bool { return t.Certificate != "" || t.Authority }

// HTTPTLS is the TLS of the local interface.
type HTTPTLS struct {
	TLS `yaml:",inline"`
	// Listen is host:port for HTTPS, beside HTTP at the other one; empty: HTTPS takes
	// the place of HTTP.
	Listen string `yaml:"listen"`
	// Redirect sends anybody who comes by HTTP to HTTPS.
	Redirect bool `yaml:"redirect"`
}

// Plain says whether the address of HTTP is served without TLS.
func (t HTTPTLS) Plain() bool { return !t.On() || t.Listen != "" }

// Cloud is the broker upstream; an empty URL means that there is none.
type Cloud struct {
	URL               Brokers        `yaml:"url"`
	Username          string         `yaml:"username"`
	Password          drivers.Secret `yaml:"password"`
	PasswordFile      string         `yaml:"password_file"`
	CAFile            string         `yaml:"ca_file"`
	ClientCertificate string         `yaml:"client_certificate"`
	ClientKey         string         `yaml:"client_key"`
	// TLSMin is the least version of TLS: TLS13 or, for an old broker, TLS12.
	TLSMin string `yaml:"tls_min"`
	// ClaimURL is the cloud's page at which the gateway's claim code is taken,
	// https; empty: the gateway's own page shows it. With one the gateway can be
	// claimed although it has a user.
	ClaimURL string `yaml:"claim_url"`
	// EnrolURL is the broker for a gateway that has no certificate yet, where it is claimed and gets
	// one; empty: that of URL.
	EnrolURL Brokers `yaml:"enrol_url"`
	// Acks says on what the outbox forgets: AcksBackend or AcksBroker.
	Acks string `yaml:"acks"`
	// CommandTTL is how long a command without an expiry of its own is valid.
	CommandTTL time.Duration `yaml:"command_ttl"`
	// Rate is how many messages of a backlog go out per second; 0 means as
	// many as the broker takes.
	Rate float64 `yaml:"rate"`
	// Heartbeat is the time between two heartbeats.
	Heartbeat time.Duration `yaml:"heartbeat"`
	// ReconnectSpread is over how long the first attempt after a lost connection
	// is spread, 1 s to 1 min.
	ReconnectSpread time.Duration `yaml:"reconnect_spread"`
}

// Brokers are URLs with commas between, mqtt://host[:1883] or mqtts://host[:8883], which
// are tried in turn. The file may have a list.
type Brokers string

// All are the URLs one by one; none if there is no cloud.
func (b Brokers) All() (all []string) {
	if b == "" {
		return nil
	}
	for one := range strings.SplitSeq(string(b), ",") {
		all = append(all, strings.TrimSpace(one))
	}
	return all
}

// AcksAdvice is what cloud.acks: broker means, and what to write instead; empty: it says
// backend.
func (c Cloud) AcksAdvice() (seen, fix string) {
	if c.URL == "" || c.Acks != AcksBroker {
		return "", ""
	}
	return "a message is forgotten once the broker has taken it: one that the broker drops, as some do of a user without the right or when a store is full, is lost",
		"write cloud.acks: backend, if the backend answers with down/ack"
}

// The choices of Cloud.Acks.
const (
	AcksBackend = "backend" // on down/ack
	AcksBroker  = "broker"  // on PUBACK
)

// The choices of Cloud.TLSMin.
const (
	TLS12 = "1.2"
	TLS13 = "1.3"
)

// Broker is the room devices' broker inside the gateway; an empty Listen means
// that there is none.
type Broker struct {
	Listen string `yaml:"listen"`
	// TLS is required of every client of Listen, if it is set.
	TLS   TLS    `yaml:"tls"`
	Users []User `yaml:"users"`
	// HomeAssistant says what one at the room broker is told, and may do.
	HomeAssistant HomeAssistant `yaml:"home_assistant"`
}

// HomeAssistant is what a Home Assistant at the room broker finds.
type HomeAssistant struct {
	// Publish tells of the building's devices and their states.
	Publish bool `yaml:"publish"`
	// Commands takes commands, as may then be given by anybody who may publish to
	// their topics; Doors takes those to doors too.
	Commands bool `yaml:"commands"`
	Doors    bool `yaml:"doors"`
	// Prefix is Home Assistant's discovery prefix.
	Prefix string `yaml:"prefix"`
}

// User is one that may connect to the room broker.
type User struct {
	Name         string         `yaml:"name"`
	Password     drivers.Secret `yaml:"password"`
	PasswordFile string         `yaml:"password_file"`
	// Publish and Subscribe are MQTT topic filters of what it may say and hear.
	// Nil: its own name and all below, and what the devices of the building that
	// it speaks for need; see the package roombroker.
	Publish   []string `yaml:"publish"`
	Subscribe []string `yaml:"subscribe"`
}

// Clock says when the wall clock is believed.
type Clock struct {
	Trust string `yaml:"trust"` // TrustAuto, TrustAlways or TrustNever
}

// The choices of Clock.Trust.
const (
	TrustAuto   = clock.Auto
	TrustAlways = clock.Always
	TrustNever  = clock.Never
)

// Doors says what of the cloud may open one.
type Doors struct {
	// Unsigned is DoorsRefuse or DoorsAllow; empty: refuse while the gateway holds a
	// key of the cloud, else allow.
	Unsigned string `yaml:"unsigned"`
}

// The choices of Doors.Unsigned.
const (
	DoorsRefuse = "refuse"
	DoorsAllow  = "allow"
)

// Store is the budget of the database.
type Store struct {
	// Flush is the least time between two writes of observed state.
	Flush time.Duration `yaml:"flush"`
	// MaxSize is the most that the database file may take.
	MaxSize Size `yaml:"max_size"`
	// Events is how many events the log keeps before it drops the oldest.
	Events int `yaml:"events"`
}

// Space is a meeting space with the devices in it. The names of its fields are
// the platform's.
type Space struct {
	ID                      string `yaml:"id"` // a UUID
	Name                    string `yaml:"name"`
	Street                  string `yaml:"street"`
	City                    string `yaml:"city"`
	State                   string `yaml:"state"`
	Zipcode                 string `yaml:"zipcode"`
	Country                 string `yaml:"country"`
	Location                string `yaml:"location"`
	IndoorLocation          string `yaml:"indoor_location"`
	Floor                   string `yaml:"floor"`
	Room                    string `yaml:"room"`
	AdditionalAddressInfo   string `yaml:"additional_address_info"`
	Type                    string `yaml:"type"`
	Capacity                int    `yaml:"capacity"`        // people
	CustomerID              string `yaml:"customer_id"`     // a UUID
	CreatedBy               string `yaml:"created_by"`      // a UUID
	OrganizationID          string `yaml:"organization_id"` // a UUID; empty: CustomerID
	ExternalCalendarID      string `yaml:"external_cal_id"`
	Timezone                string `yaml:"timezone"` // an IANA name
	Logo                    string `yaml:"logo"`
	BookingAppURL           string `yaml:"booking_app_url"`
	Enabled                 bool   `yaml:"enabled"`
	ThirdPartyRegistered    bool   `yaml:"third_party_registered"`
	ExternalName            string `yaml:"external_name"`
	SlotSize                int    `yaml:"slot_size"` // minutes
	AllowCurrentTimeBooking bool   `yaml:"allow_current_time_booking"`
	AroundTheClock          bool   `yaml:"24_hr_available"`
	Screen                  `yaml:",inline"`

	Booking  Booking  `yaml:"booking"`
	Follow   Follow   `yaml:"follow"`
	Calendar Calendar `yaml:"calendar"`

	Devices []Device `yaml:"devices"`
}

// Device is one device of a space and the driver that moves it.
type Device struct {
	ID     string `yaml:"id"`     // unique in the building
	Type   string `yaml:"type"`   // one of drivers.Types
	Driver string `yaml:"driver"` // the Name of a drivers.Kind
	// Poll is the time from one observation to the next.
	Poll time.Duration `yaml:"poll"`
	// Timeout is how long one observation or one command may take.
	Timeout time.Duration `yaml:"timeout"`
	Alert   Alert         `yaml:"alert"`
	Enabled bool          `yaml:"enabled"`
	// Options are what the driver's Kind.Options returned, filled and checked.
	Options drivers.Options `yaml:"options"`
}

// Alert is the range of temperatures, in °C, outside of which a temperature
// alert is raised. It ends once the value is back inside by Hysteresis.
type Alert struct {
	Low        float64 `yaml:"low"`
	High       float64 `yaml:"high"`
	Hysteresis float64 `yaml:"hysteresis"`
}

// Default returns what holds where neither file nor flag says otherwise.
func Default() Config {
	return Config{
		Data:   "/var/lib/roomgate",
		HTTP:   HTTP{Listen: ":8080"},
		Cloud:  Cloud{TLSMin: TLS13, Acks: AcksBackend, CommandTTL: 30 * time.Second, Rate: 500, Heartbeat: 30 * time.Second, ReconnectSpread: 2 * time.Second},
		Broker: Broker{HomeAssistant: HomeAssistant{Prefix: "homeassistant"}},
		Clock:  Clock{Trust: TrustAuto},
		Store:  Store{Flush: time.Second, MaxSize: 256 << 20, Events: 100_000},
		Update: Update{Trial: 5 * time.Minute},
		Auth:   Auth{JWT: JWT{Lifetime: 12 * time.Hour, Rotation: 30 * 24 * time.Hour}},
	}
}

// defaults fills a space before the file is laid over it.
func (s *Space) defaults() {
	*s = Space{Type: "meeting_room", Timezone: "UTC", Enabled: true, SlotSize: 15,
		AllowCurrentTimeBooking: true, AroundTheClock: true}
	s.scheduleDefaults()
	s.Display.defaults()
}

// defaults fills a device before the file is laid over it.
func (d *Device) defaults() {
	*d = Device{Poll: 5 * time.Second, Timeout: 2 * time.Second, Enabled: true,
		Alert: Alert{Low: 16, High: 28, Hysteresis: 0.5}}
}
