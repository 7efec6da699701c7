package configs_test

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"
	"go.yaml.in/yaml/v4"

	"roomgate/agent/config"
	"roomgate/configs"
	"roomgate/drivers"
	"roomgate/drivers/all"
	"roomgate/drivers/mqttdevice"
	"roomgate/drivers/sim/plan"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func parse(t *testing.T, name string, data []byte) *config.Config {
	t.Helper()
	c, err := config.Parse(name, data, all.All())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestExampleLoads(t *testing.T) { parse(t, "gateway.yaml", configs.Gateway) }

// TestDemoAnswers opens every device of the demo building on its simulated
// hardware, which proves that the two files name the same lines.
func TestDemoAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := parse(t, "demo.yaml", configs.Demo)
		world, err := plan.Parse(configs.DemoWorld)
		if err != nil {
			t.Fatal(err)
		}
		defer world.Close()
		for _, s := range c.Spaces {
			for _, d := range s.Devices {
				answers(t, world, d)
			}
		}
	})
}

func answers(t *testing.T, world drivers.Buses, d config.Device) {
	driver, err := d.Options.Open(t.Context(), world)
	if err != nil {
		t.Errorf("%s: %v", d.ID, err)
		return
	}
	defer driver.Close()
	time.Sleep(5 * time.Second) // pages beat and hubs report in their own time
	ctx, cancel := context.WithTimeout(t.Context(), d.Timeout)
	defer cancel()
	statuses, err := driver.Poll(ctx)
	if err != nil || len(statuses) == 0 {
		t.Errorf("%s: polled %v, %v", d.ID, statuses, err)
	}
	for _, s := range statuses {
		if s.Err != nil {
			t.Errorf("%s %s: %v", d.ID, s.Sub, s.Err)
		}
	}
}

// TestDemoBuilding holds what examples and walk-throughs name.
func TestDemoBuilding(t *testing.T) {
	c := parse(t, "demo.yaml", configs.Demo)
	if c.Gateway.ID != "demo" || len(c.Spaces) != 2 {
		t.Fatalf("gateway %s with %d spaces", c.Gateway.ID, len(c.Spaces))
	}
	for i, name := range []string{"Aurora", "Borealis"} {
		s := c.Spaces[i]
		if want := fmt.Sprintf("7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a%02d", i+1); s.Name != name || s.ID != want {
			t.Errorf("space %d is %s %s", i, s.Name, s.ID)
		}
		var types []string
		for _, d := range s.Devices {
			types = append(types, d.Type)
		}
		if want := drivers.Types(); !same(types, want) {
			t.Errorf("%s has %v, want %v", name, types, want)
		}
	}
}

func same(a, b []string) bool {
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// switchedOff is a setting that the example shows and does not use.
var switchedOff = regexp.MustCompile(`(?m)^(\s*)#([a-z0-9_-]+:( |$))`)

// TestExampleDocumentsEveryKey switches on what the example only shows, and
// wants to see each key then.
func TestExampleDocumentsEveryKey(t *testing.T) {
	text := switchedOff.ReplaceAll(configs.Gateway, []byte("$1$2"))
	var tree struct {
		Spaces []struct {
			Devices []struct {
				Driver  string
				Options yaml.Node
			}
		}
	}
	var root yaml.Node
	if err := yaml.Load(text, &root); err != nil {
		t.Fatal(err)
	}
	if err := root.Load(&tree); err != nil {
		t.Fatal(err)
	}
	missing(t, "", config.Keys(config.Config{}), keys(root.Content[0], ""))
	of := map[string]reflect.Type{} // drivers may share their options
	for _, k := range all.All() {
		of[k.Name] = reflect.TypeOf(k.Options())
	}
	options := map[reflect.Type][]string{}
	for _, s := range tree.Spaces {
		for _, d := range s.Devices {
			options[of[d.Driver]] = append(options[of[d.Driver]], keys(&d.Options, "")...)
		}
	}
	for _, k := range all.All() {
		missing(t, k.Name+": ", config.Keys(k.Options()), options[of[k.Name]])
	}
}

// TestExampleShowsWhatIsKnown wants no setting in the example that a gateway
// would refuse by its name or its form.
func TestExampleShowsWhatIsKnown(t *testing.T) {
	text := switchedOff.ReplaceAll(configs.Gateway, []byte("$1$2"))
	_, err := config.Parse("gateway.yaml", text, all.All())
	for line := range strings.Lines(fmt.Sprint(err)) {
		// An example shows both ways to give a secret, which a gateway refuses.
		if !strings.Contains(line, "password") && !strings.Contains(line, "push.token") || strings.Contains(line, "unknown") {
			t.Error(line)
		}
	}
}

// TestExampleShowsDefaults wants each setting that is switched off to show
// what holds anyway, except those that have no default.
func TestExampleShowsDefaults(t *testing.T) {
	text := switchedOff.ReplaceAll(configs.Gateway, []byte("$1$2"))
	text = regexp.MustCompile(`(?m)^.* (password|token): .*$`).ReplaceAll(text, nil)
	var d differences
	off, on := parse(t, "gateway.yaml", configs.Gateway), parse(t, "gateway.yaml", text)
	cmp.Equal(*off, *on, cmpopts.IgnoreUnexported(config.Config{}, mqttdevice.Options{}), cmp.Reporter(&d))
	want := []string{"Broker.Listen", "Broker.TLS.Certificate", "Broker.TLS.Key", "Cloud.CAFile", "Cloud.ClaimURL", "Cloud.ClientCertificate", "Cloud.ClientKey", "Cloud.EnrolURL", "Cloud.PasswordFile",
		"Cloud.URL", "Cloud.Username", "Doors.Unsigned", "HTTP.Names", "HTTP.Origins", "HTTP.TLS.Listen", "HTTP.TLS.TLS.Certificate", "HTTP.TLS.TLS.Key",
		"Push.CAFile", "Push.TokenFile", "Push.Topic", "Push.URL", "SMTP.CAFile", "SMTP.From", "SMTP.PasswordFile", "SMTP.URL", "SMTP.Username", "Spaces.AroundTheClock", "Spaces.Booking.Hours.Friday",
		"Spaces.Booking.Hours.Monday", "Spaces.Booking.Hours.Saturday", "Spaces.Booking.Hours.Sunday", "Spaces.Booking.Hours.Thursday",
		"Spaces.Booking.Hours.Tuesday", "Spaces.Booking.Hours.Wednesday", "Spaces.BookingAppURL", "Spaces.Calendar.URL", "Spaces.CreatedBy",
		"Spaces.CustomerID", "Spaces.Devices.Options.CAFile",
		"Spaces.Devices.Options.Fingerprint", "Spaces.Devices.Options.Prefix", "Spaces.ExternalCalendarID", "Spaces.ExternalName",
		"Spaces.Logo", "Spaces.OrganizationID", "Spaces.Screen.Display.Night", "Spaces.Screen.ScreenSaverURL", "Update.Keys", "Users.OrganizationID", "Users.PushTopic"}
	if slices.Sort(d.found); !slices.Equal(d.found, want) {
		t.Errorf("these are not defaults: %q\nexpected: %q", d.found, want)
	}
}

// differences collects the paths at which two values differ.
type differences struct {
	path  cmp.Path
	found []string
}

func (d *differences) PushStep(s cmp.PathStep) { d.path = append(d.path, s) }
func (d *differences) PopStep()                { d.path = d.path[:len(d.path)-1] }
func (d *differences) Report(r cmp.Result) {
	if !r.Equal() {
		d.found = append(d.found, d.path.String())
	}
}

func missing(t *testing.T, where string, want, got []string) {
	t.Helper()
	for _, key := range want {
		if !slices.Contains(got, key) {
			t.Errorf("%s%s is not in the example", where, key)
		}
	}
}

// keys returns the keys below a node, as config.Keys writes them.
func keys(n *yaml.Node, prefix string) (found []string) {
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := strings.TrimPrefix(prefix+"."+n.Content[i].Value, ".")
			found = append(append(found, key), keys(n.Content[i+1], key)...)
		}
	case yaml.SequenceNode:
		found = append(found, prefix+"[]")
		for _, item := range n.Content {
			found = append(found, keys(item, prefix+"[]")...)
		}
	}
	return found
}

// Each broker of a fleet refuses what no gateway and no backend sends, and takes a signed part with its
// envelope: one message cannot fill a backend's line.
func TestBrokersHaveALimit(t *testing.T) {
	for name, want := range map[string][]string{
		"mosquitto/mosquitto.conf":    {"\nmax_packet_size 1048576\n"},
		"mosquitto/certificates.conf": {"\nmax_packet_size 1048576\n"},
		"mosquitto/first.conf":        {"\nmax_packet_size 65536\n"},
		"nats/one.conf":               {"\nmax_payload: 1MB\n"},
		"nats/node.conf":              {"\ninclude one.conf\n"},
	} {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range want {
			if !strings.Contains(string(raw), line) {
				t.Errorf("%s does not say %q", name, strings.TrimSpace(line))
			}
		}
	}
}
