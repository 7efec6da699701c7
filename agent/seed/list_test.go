package seed

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"roomgate/agent/config"
	"roomgate/agent/goldentest"
	"roomgate/agent/setup"
	"roomgate/drivers/all"
)

const sites = `gateway_id,cloud_username,cloud_password,room,timezone,lock_relay,lock_active_low,display
# the first house
berlin-1,berlin-1,"canary,1",Atlas,Europe/Berlin,GPIO17,yes,yes
,,,Bora,Europe/Berlin,,,yes
rome-1,rome-1,canary-2,Cora,Europe/Rome,,,
`

const common = "cloud: {url: \"mqtts://cloud.example.com\"}\nstore: {flush: 5s}\n"

func TestList(t *testing.T) {
	c := newCard(t, "")
	seeds, err := List("sites.csv", strings.NewReader(sites), []byte(common), c.o)
	if err != nil || len(seeds) != 2 || seeds[0].Gateway != "berlin-1" || seeds[1].Gateway != "rome-1" {
		t.Fatalf("%v, %v", seeds, err)
	}
	c.write(t, Name, string(seeds[0].Data))
	if _, err := Take(c.boot, c.o, -1); err != nil {
		t.Fatal(err)
	}
	got, err := config.Load(c.o.File, all.All())
	if err != nil {
		t.Fatal(err)
	}
	password, _ := got.Cloud.Password.Reveal(got.Cloud.PasswordFile)
	if len(got.Spaces) != 2 {
		t.Fatalf("the seed says\n%s", seeds[0].Data)
	}
	goldentest.Values(t, "the seed", goldentest.Pairs{"len(got.Spaces[0].Devices)": {len(got.Spaces[0].Devices), 2},
		"no Cloud.URL": {got.Cloud.URL == "", false}, "password": {password, "canary,1"},
		"Store.Flush.Seconds": {got.Store.Flush.Seconds(), 5}})
	again, _ := List("sites.csv", strings.NewReader(strings.ReplaceAll(strings.ReplaceAll(sites, "canary,1", "canary1"), ",", ";")), []byte(common), c.o)
	if len(again) != 2 || string(again[1].Data) != string(seeds[1].Data) {
		t.Error("a list with semicolons says something else")
	}
}

// A device that the common answers give a room has no other beside it.
func TestARowHasNoSecondDevice(t *testing.T) {
	c := newCard(t, "")
	c.o.Base = "c1.yaml"
	base := "spaces:\n  - name: Atlas\n    devices:\n      - {driver: lock-relay, options: {relay: GPIO17}}\n"
	for relay, want := range map[string]string{"GPIO17": "", "GPIO4": "l.csv:2:13: lock_relay: room Atlas already has a lock on GPIO17 in c1.yaml"} {
		_, err := List("l.csv", strings.NewReader("gateway_id,room,timezone,lock_relay\na,Atlas,UTC,"+relay+"\n"), []byte(base), c.o)
		if (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%s: %v, want %s", relay, err, want)
		}
	}
}

func TestMistakesOfAList(t *testing.T) {
	c := newCard(t, "")
	for list, want := range map[string][]string{
		"":                       {"l.csv:1:1: has no gateways"},
		"gateway_id,rom\nx,y\n":  {`l.csv:1:12: "rom" is no column`},
		"room,timezone\nA,UTC\n": {"l.csv:1:1: has no column gateway_id"},
		"gateway_id\na\nb\na\n":  {"l.csv:4:1: gateway_id a is already in line 2"},
		"gateway_id,gateway_name\na,x\nb\nc c,z\n":               {"l.csv:3:1: want 2 fields, as the first line has, not 1", `l.csv:4:1: gateway_id: gateway.id is "c c"`},
		"gateway_id,room,timezone\n,A,UTC\n":                     {"l.csv:2:1: gateway_id is empty"},
		"gateway_id,room,timezone\na,A,\n":                       {"l.csv:2:5: timezone is empty"},
		"gateway_id,room,timezone\na,A,Nowhere\n":                {`l.csv:2:5: timezone: spaces[0].timezone is "Nowhere"`},
		"gateway_id,room,timezone\na,A,UTC\n,A,UTC\n":            {"l.csv:3:2: room A of this gateway is already in line 2"},
		"gateway_id,room,timezone,o3_address\na,A,UTC,hub\n":     {"l.csv:2:9: o3_address: spaces[0].devices[0].options.address is not an address"},
		"gateway_id,room,timezone,o3_password\na,A,UTC,canary\n": {"l.csv:2:9: o3_password is there and o3_address is empty"},
		"gateway_id,room,timezone,display\na,A,UTC,perhaps\n":    {"l.csv:2:9: display is neither yes nor no"},
		"gateway_id,cloud_password\na,canary\n":                  {"l.csv:2:1: gateway_id: cloud.username is empty"},
		"gateway_id,gateway_name\na,\"x\n":                       {"l.csv:2:6: not a row"},
		"gateway_id,gateway_name\na,B\xfcro\n":                   {"l.csv:2:4: is not UTF-8 here: save the list as CSV UTF-8"},
		"gateway_id,room,timezone,lock_relay,light_channel,camera_device\na,A,UTC,17,GPIO18,/dev/v4l/by-id/x\n,B,UTC,pin 2,pwmchip0/1,\n": {
			"l.csv:2:9: lock_relay is \"17\", which is no name of a line: want GPIO17 ", "l.csv:2:12: light_channel is \"GPIO18\", which is no name of a channel", "l.csv:3:8: lock_relay is \"pin 2\", which is a pin of the header"},
		"gateway_id,room,timezone,lock_relay,lock_sense\na,A,UTC,GPIO17,GPIO18\n,B,UTC,GPIO18,\nb,A,UTC,GPIO17,GPIO17\n": {
			"l.csv:3:8: lock_relay: GPIO18 of this gateway is already in line 2", "l.csv:4:16: lock_sense: GPIO17 of this gateway is already in line 4"},
	} {
		seeds, err := List("l.csv", strings.NewReader(list), nil, c.o)
		if err == nil || seeds != nil {
			t.Errorf("%q makes %v", list, seeds)
			continue
		}
		lines := strings.Split(err.Error(), "\n")
		for i := range lines {
			if i < len(want) {
				lines[i] = lines[i][:min(len(lines[i]), len(want[i]))]
			}
		}
		if diff := cmp.Diff(want, lines); diff != "" || strings.Contains(err.Error(), "canary") {
			t.Errorf("%q (-want +got)\n%s%v", list, diff, err)
		}
	}
}

// FuzzList goes the whole way, as far as a configuration for each gateway. FuzzRows here and
// FuzzFrom of setup have a part each, and are faster.
func FuzzList(f *testing.F) {
	f.Add(sites, common)
	f.Add("gateway_id;room\na;\"\n", "")
	o := newCard(f, "").o
	o.Fresh = []byte("# what a new gateway begins with\nhttp: {listen: \"127.0.0.1:8080\"}\n") // what a package brings is long, and reading its comments takes longest
	f.Fuzz(func(t *testing.T, list, base string) {
		seeds, err := List("l.csv", strings.NewReader(list), []byte(base), o)
		if (err == nil) == (len(seeds) == 0) {
			t.Errorf("%d seeds and %v", len(seeds), err)
		}
	})
}

// FuzzRows reads rows only: the answers for all gateways cannot be read, so none of
// them is completed.
func FuzzRows(f *testing.F) {
	f.Add(sites)
	f.Add("gateway_id;room\na;\"\n")
	f.Add("gateway_id,room,lock_relay\na,A,GPIO17\n,B,GPIO17\n")
	f.Fuzz(func(t *testing.T, list string) {
		seeds, err := List("l.csv", strings.NewReader(list), []byte("\x00"), setup.Options{})
		if err == nil || len(seeds) > 0 {
			t.Errorf("%d seeds and %v", len(seeds), err)
		}
	})
}
