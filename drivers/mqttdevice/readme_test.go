package mqttdevice_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"roomgate/drivers"
	"roomgate/drivers/mqttdevice"
)

// TestReadme: the example of devices at the room broker in drivers/README.md has
// every dialect, and options that its drivers take.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(text), "```yaml\n")
	example, _, ok := strings.Cut(example, "\n```")
	if !ok {
		t.Fatal("the README has no configuration")
	}
	var file struct {
		Spaces []struct {
			Devices []struct {
				ID, Driver string
				Options    yaml.Node
			}
		}
	}
	if err := yaml.Load([]byte(example), &file); err != nil {
		t.Fatal(err)
	}
	var seen []string
	for _, s := range file.Spaces {
		for _, d := range s.Devices {
			kind := kindOf(d.Driver)
			o := kind.Options()
			if err := d.Options.Load(o, yaml.WithKnownFields()); err != nil {
				t.Errorf("%s: %v", d.ID, err)
			}
			if err := o.Check(); err != nil {
				t.Errorf("%s: %v", d.ID, err)
			}
			seen = append(seen, dialectsOf(d.Driver, o)...)
		}
	}
	for _, dialect := range []string{"zigbee2mqtt", "tasmota", "esphome", "shelly"} {
		if !slices.Contains(seen, dialect) {
			t.Errorf("%s is not in the README", dialect)
		}
	}
}

func dialectsOf(driver string, o drivers.Options) []string {
	if s, ok := o.(*mqttdevice.Sensors); ok {
		return []string{s.Temperature.Dialect, s.Occupancy.Dialect}
	}
	_, dialect, _ := strings.Cut(driver, "-")
	return []string{dialect}
}
