package peers

import (
	"encoding/json"
	"net"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"roomgate/drivers/sim"
)

const o3Address = "10.0.0.7:1883"

// ear is any MQTT client of a hub, and what it has heard.
type ear struct {
	mqtt.Client
	mu    sync.Mutex
	heard []string // "topic payload"
}

// listenTo connects to the hub with protocol version 3 or 4.
func listenTo(t *testing.T, w *sim.World, password string, version uint) (*ear, error) {
	t.Helper()
	e := &ear{}
	e.Client = mqtt.NewClient(mqtt.NewClientOptions().AddBroker("tcp://hub").
		SetCustomOpenConnectionFn(func(*url.URL, mqtt.ClientOptions) (net.Conn, error) {
			return w.Dial(t.Context(), "tcp", o3Address)
		}).
		SetClientID("ear").SetUsername("user").SetPassword(password).
		SetProtocolVersion(version).SetAutoReconnect(false).
		SetDefaultPublishHandler(func(_ mqtt.Client, m mqtt.Message) {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.heard = append(e.heard, m.Topic()+" "+string(m.Payload()))
		}))
	token := e.Connect()
	<-token.Done()
	if token.Error() != nil {
		return nil, token.Error()
	}
	t.Cleanup(func() { e.Disconnect(100) })
	<-e.Subscribe("#", 0, nil).Done()
	return e, nil
}

// since returns what was heard since the last call, of one subtopic.
func (e *ear) since(sub string) []string {
	synctest.Wait()
	e.mu.Lock()
	defer e.mu.Unlock()
	var all []string
	for _, h := range e.heard {
		if topic, payload, _ := strings.Cut(h, " "); strings.HasSuffix(topic, "events/object/"+sub) {
			all = append(all, payload)
		}
	}
	e.heard = nil
	return all
}

func (e *ear) order(topic, payload string) {
	<-e.Publish(topic, 0, false, payload).Done()
	synctest.Wait()
}

func testHub(t *testing.T, test func(t *testing.T, w *sim.World, o *O3)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o := &O3{Address: o3Address, Username: "user", Password: "admin", Period: time.Minute}
		test(t, world(t, o), o)
	})
}

func TestO3LetsOnlyItsUsersIn(t *testing.T) {
	testHub(t, func(t *testing.T, w *sim.World, _ *O3) {
		if _, err := listenTo(t, w, "wrong", 4); err == nil {
			t.Error("a wrong password was accepted")
		}
		if _, err := listenTo(t, w, "admin", 3); err == nil {
			t.Error("MQTT 3.1 was accepted")
		}
		if _, err := listenTo(t, w, "admin", 4); err != nil {
			t.Error(err)
		}
	})
}

// TestO3TellsWhoeverListens at once: the next full report is a minute away.
func TestO3TellsWhoeverListens(t *testing.T) {
	testHub(t, func(t *testing.T, w *sim.World, o *O3) {
		for _, who := range []string{"the first", "another"} {
			e, err := listenTo(t, w, "admin", 4)
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			e.mu.Lock()
			all := strings.Join(e.heard, "\n") + "\n"
			e.mu.Unlock()
			for _, name := range append(sortedKeys(o.numbers), "soundfile") {
				if n := strings.Count(all, "events/object/"+name+" "); n != 1 {
					t.Errorf("%s hears %s %d times, want once", who, name, n)
				}
			}
			e.Disconnect(100)
			synctest.Wait()
		}
	})
}

func TestO3Reports(t *testing.T) {
	form := regexp.MustCompile(`^\d\d-\d\d-\d{4} \d\d:\d\d:\d\d(\.\d{1,2})?$`)
	testHub(t, func(t *testing.T, w *sim.World, o *O3) {
		e, err := listenTo(t, w, "admin", 4)
		if err != nil {
			t.Fatal(err)
		}
		e.since("")
		for _, c := range []struct {
			text, fahrenheit bool
			value            any
			units            string
		}{{false, false, 31.5, "°C"}, {true, false, "31.5", "°C"}, {false, true, 88.7, "°F"}, {true, true, "88.7", "°F"}} {
			o.Text, o.Fahrenheit = c.text, c.fahrenheit
			o.Warm(31.5)
			var got struct {
				Value   any    `json:"Present_Value"`
				Units   string `json:"Units"`
				Updated string `json:"updated"`
			}
			heard := e.since("occupantTemperature")
			if len(heard) != 1 || json.Unmarshal([]byte(heard[0]), &got) != nil {
				t.Fatalf("heard %q", heard)
			}
			if got.Value != c.value || got.Units != c.units || !form.MatchString(got.Updated) {
				t.Errorf("got %+v, want %v %s", got, c.value, c.units)
			}
		}
		time.Sleep(time.Minute)
		if heard := e.since("combinedOccupancy"); len(heard) != 1 {
			t.Errorf("a full report says %q of occupancy", heard)
		}
	})
}

func TestO3FollowsOrders(t *testing.T) {
	testHub(t, func(t *testing.T, w *sim.World, o *O3) {
		e, err := listenTo(t, w, "admin", 4)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ sub, payload, want string }{ // want: in the report, empty for none
			{"lightringBrightness", `{"data": 100}`, `"Present_Value":100`},
			{"lightringBrightness", `{"data": "2"}`, `"Present_Value":2`},
			{"lightringBrightness", `{"data": 101}`, ``},
			{"lightringBrightness", `{"data": -1}`, ``},
			{"lightringBrightness", `{"data": "NaN"}`, ``},
			{"lightringBrightness", `{"data": null}`, ``},
			{"lightringBrightness", `100`, ``},
			{"lightringbrightness", `{"data": 100}`, ``},
			{"occupantTemperature", `{"data": 20}`, ``},
			{"soundfile", `{"data": "(1) Power On.wav"}`, `(1) Power On.wav`},
			{"soundfile", `{"data": "Power On"}`, ``},
			{"soundfile", `{"data": "(99) Nothing.wav"}`, ``},
			{"soundfile", `{"data": "(2) ` + strings.Repeat("o", longestO3Sound+1) + `.wav"}`, ``},
		} {
			e.order("commands/object/"+c.sub, c.payload)
			heard := strings.Join(e.since(c.sub), " ")
			if c.want == "" && heard != "" || !strings.Contains(heard, c.want) {
				t.Errorf("%s %s: heard %s, want %s", c.sub, c.payload, heard, c.want)
			}
		}
		time.Sleep(2 * time.Second)
		if heard := e.since("soundfile"); len(heard) != 1 || !strings.Contains(heard[0], o3Idle) {
			t.Errorf("after the sound: %q", heard)
		}
		e.order("events/object/motion", `{"Present_Value": 1}`)
		if heard := e.since("motion"); len(heard) != 0 {
			t.Errorf("a client reports in the hub's name: %q", heard)
		}
		o.Numb(true)
		e.order("commands/object/lightringRed", `{"data": 1}`)
		if heard := e.since("lightringRed"); len(heard) != 0 {
			t.Errorf("a numb hub reports %q", heard)
		}
	})
}

func TestO3Ring(t *testing.T) {
	testHub(t, func(t *testing.T, w *sim.World, o *O3) {
		e, err := listenTo(t, w, "admin", 4)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			orders           string
			red, green, blue float64
			pattern          int
		}{
			{"", 0, 0, 0, 1},
			{"Red 100 Green 40", 0, 0, 0, 1},
			{"ColorOverride 1", 50, 20, 0, 1},
			{"Pattern 5", 50, 20, 0, 1},
			{"Brightness 0", 0, 0, 0, 1},
			{"Brightness 100", 100, 40, 0, 1},
			{"ColorOverride 0", 0, 0, 0, 5},
			{"Brightness 0", 0, 0, 0, 1},
		} {
			for words := strings.Fields(c.orders); len(words) > 1; words = words[2:] {
				e.order("commands/object/lightring"+words[0], `{"data": `+words[1]+`}`)
			}
			if r, g, b, p := o.Ring(); r != c.red || g != c.green || b != c.blue || p != c.pattern {
				t.Errorf("after %q the ring shows %g %g %g, pattern %d", c.orders, r, g, b, p)
			}
		}
	})
}

func TestO3Verbs(t *testing.T) {
	testHub(t, func(t *testing.T, w *sim.World, o *O3) {
		e, err := listenTo(t, w, "admin", 4)
		if err != nil {
			t.Fatal(err)
		}
		control := func(subject string, args ...string) string {
			t.Helper()
			answer, err := w.Control("aurora", subject, args...)
			if err != nil {
				t.Fatal(err)
			}
			return answer
		}
		control("temperature", "31.5")
		control("occupancy", "occupied")
		if state := control("occupancy"); !strings.Contains(state, "31.50 °C, occupancy 1") {
			t.Errorf("the state is %q", state)
		}
		if _, err := w.Control("aurora", "temperature", "131.5"); err == nil {
			t.Error("131.5 °C were accepted")
		}
		e.since("")
		control("thing", "mute")
		control("temperature", "20")
		if heard := e.since("occupantTemperature"); len(heard) != 0 {
			t.Errorf("a muted hub reports %q", heard)
		}
		control("thing", "unmute")
		control("thing", "babble")
		control("temperature", "21")
		for _, payload := range e.since("occupantTemperature") {
			if json.Valid([]byte(payload)) && strings.Contains(payload, ":21") {
				t.Errorf("a babbling hub reports %q", payload)
			}
		}
		control("thing", "unplug")
		synctest.Wait()
		if e.IsConnectionOpen() {
			t.Error("an unplugged hub keeps its connections")
		}
	})
}
