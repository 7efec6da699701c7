package acceptance_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"roomgate/agent/acceptance"
	"roomgate/agent/agenttest"
	"roomgate/agent/device"
	"roomgate/agent/site"
	"roomgate/drivers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// inBuilding runs a test in a simulated building with virtual time.
func inBuilding(t *testing.T, test func(t *testing.T, b *agenttest.Building)) {
	synctest.Test(t, func(t *testing.T) {
		b := agenttest.Start(t, agenttest.Options{})
		agenttest.Await(t, "every device online", func() bool { return b.Health.Report().DevicesOffline == 0 })
		test(t, b)
		b.Stop()
	})
}

// room is a space of the building as the building itself reaches it.
func room(t *testing.T, b *agenttest.Building, id string) acceptance.Room {
	t.Helper()
	i := slices.IndexFunc(b.Site.SpaceInfos(), func(s site.SpaceInfo) bool { return s.ID == id })
	if i < 0 {
		t.Fatalf("no space %s", id)
	}
	return acceptance.Room{
		SpaceInfo: b.Site.SpaceInfos()[i],
		Command: func(ctx context.Context, o acceptance.Command) (device.Receipt, error) {
			return b.Commands.Do(ctx, device.Command{Space: id, DeviceType: o.DeviceType, SubDevice: o.SubDevice, Action: o.Action, Value: raw(t, o.Value)})
		},
		Read: func(_ context.Context, deviceType string) ([]device.Reading, error) {
			all, err := b.Site.StatusAll(id)
			return slices.DeleteFunc(all, func(r device.Reading) bool { return r.DeviceType != deviceType }), err
		},
		Picture: func(_ context.Context, deviceType string) (drivers.Picture, error) {
			d, err := b.Site.Device(id, deviceType)
			if err != nil {
				return drivers.Picture{}, err
			}
			p, _, ok := d.Picture()
			if !ok {
				return drivers.Picture{}, errors.New("no picture")
			}
			return *p, nil
		},
	}
}

func control(t *testing.T, b *agenttest.Building, space, subject string, words ...string) string {
	t.Helper()
	answer, err := b.World.Control(space, subject, words...)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// stride is how long the person takes to move below the sensor.
const stride = time.Second

// yes is a person who sees everything, and does as told.
func yes(t *testing.T, b *agenttest.Building, space string) acceptance.Person {
	return acceptance.Person{Ask: func(_ context.Context, question string) (acceptance.Answer, error) {
		if strings.Contains(question, "move below the sensor") {
			time.AfterFunc(stride, func() {
				if _, err := b.World.Control(space, "occupancy", "occupied"); err != nil {
					t.Error(err)
				}
			})
		}
		return acceptance.Answer{Result: acceptance.Passed}, nil
	}}
}

func concluded(devices []acceptance.DeviceReport) acceptance.Report {
	r := acceptance.Report{Devices: devices}
	r.Judge()
	return r
}

// Both rooms of the demo, one with a hub on the network and one with a hub of
// parts, are accepted, and are as they were.
func TestAcceptARoomInOrder(t *testing.T) {
	for id, name := range map[string]string{agenttest.Aurora: "aurora", agenttest.Borealis: "borealis"} {
		inBuilding(t, func(t *testing.T, b *agenttest.Building) {
			before, _ := b.Site.StatusAll(id)
			devices, err := acceptance.Accept(t.Context(), room(t, b, id), yes(t, b, name), nil)
			if err != nil {
				t.Fatal(err)
			}
			r := concluded(devices)
			if r.Verdict != acceptance.Accepted || len(devices) != 6 {
				t.Errorf("%s is %s: %+v", name, r.Verdict, devices)
			}
			measured(t, devices)
			control(t, b, name, "occupancy", "vacant")
			time.Sleep(time.Minute)
			after, _ := b.Site.StatusAll(id)
			for i := range before {
				if before[i].Record != after[i].Record {
					t.Errorf("%s was %+v and is %+v", name, before[i].Record, after[i].Record)
				}
			}
		})
	}
}

// measured wants what a machine can measure in the report.
func measured(t *testing.T, devices []acceptance.DeviceReport) {
	t.Helper()
	for what, found := range map[string]func(d acceptance.DeviceReport, s acceptance.Step) bool{
		"the lock's bolt with its latency": func(d acceptance.DeviceReport, s acceptance.Step) bool {
			return d.Type == drivers.TypeLock && s.Name == "open" && s.LatencyMS > 50 && s.Source == "sense line"
		},
		"the fan's speeds": func(d acceptance.DeviceReport, s acceptance.Step) bool {
			return d.Type == drivers.TypeFan && strings.Contains(s.Seen, " rpm") && strings.Contains(s.Name, "faster")
		},
		"the light's intensity": func(_ acceptance.DeviceReport, s acceptance.Step) bool { return s.Seen == "on, intensity 40" },
		"who was noticed": func(_ acceptance.DeviceReport, s acceptance.Step) bool {
			return s.SubDevice == drivers.SubOccupancy && s.Seen == drivers.Occupied && s.LatencyMS >= float64(stride.Milliseconds())
		},
		"the temperature": func(_ acceptance.DeviceReport, s acceptance.Step) bool {
			return s.Name == "plausible" && s.Seen == "21.5 °C"
		},
		"the privacy switch": func(_ acceptance.DeviceReport, s acceptance.Step) bool {
			return strings.HasPrefix(s.Seen, "refused: camera is switched off")
		},
		"the camera's picture": func(d acceptance.DeviceReport, _ acceptance.Step) bool {
			return d.Type == drivers.TypeCamera && len(d.Pictures) == 1 && d.Pictures[0].Width == 640
		},
		"the display's screenshot": func(d acceptance.DeviceReport, _ acceptance.Step) bool {
			return d.Type == drivers.TypeDisplay && len(d.Pictures) == 1 && d.Pictures[0].ContentType == "image/png"
		},
	} {
		ok := false
		for _, d := range devices {
			ok = ok || slices.ContainsFunc(d.Steps, func(s acceptance.Step) bool { return found(d, s) })
		}
		if !ok {
			t.Errorf("%s is not in %+v", what, devices)
		}
	}
}

// Whatever a machine can notice fails its device, and only that.
func TestFaultsAreNamed(t *testing.T) {
	for _, c := range []struct {
		subject string
		words   []string
		want    string
		note    string
	}{
		{"lock", []string{"jam"}, drivers.TypeLock, "did not follow"},
		{"fan", []string{"stall"}, drivers.TypeFan, "did not follow"},
		{"temperature", []string{"80"}, drivers.TypeO3, "want a temperature"},
		{"camera", []string{"unplug"}, drivers.TypeCamera, ""},
		{"meeting-room-display", []string{"unplug"}, drivers.TypeDisplay, ""},
	} {
		inBuilding(t, func(t *testing.T, b *agenttest.Building) {
			control(t, b, "borealis", c.subject, c.words...)
			time.Sleep(time.Minute)
			devices, err := acceptance.Accept(t.Context(), room(t, b, agenttest.Borealis), yes(t, b, "borealis"), nil)
			if err != nil {
				t.Fatal(err)
			}
			r := concluded(devices)
			if r.Verdict != acceptance.Refused || !slices.Equal(r.Failed, []string{c.want}) {
				t.Errorf("%s %v: %s, failed %v, want %s", c.subject, c.words, r.Verdict, r.Failed, c.want)
			}
			noted := slices.ContainsFunc(devices, func(d acceptance.DeviceReport) bool {
				return slices.ContainsFunc(d.Steps, func(s acceptance.Step) bool {
					return s.Result == acceptance.Failed && strings.Contains(s.Note, c.note)
				})
			})
			if !noted {
				t.Errorf("%s %v: %q is not in %+v", c.subject, c.words, c.note, devices)
			}
		})
	}
}

// What a person says no to fails, and what is left out is never accepted.
func TestThePersonDecides(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *agenttest.Building) {
		p := yes(t, b, "borealis")
		all := p.Ask
		p.Ask = func(ctx context.Context, question string) (acceptance.Answer, error) {
			if strings.Contains(question, "beeps") {
				return acceptance.Answer{Result: acceptance.Failed, Note: "silence"}, nil
			}
			return all(ctx, question)
		}
		r := accepted(t, b, p)
		if !slices.Equal(r.Failed, []string{drivers.TypeO3}) {
			t.Errorf("failed %v", r.Failed)
		}
		r = accepted(t, b, yes(t, b, "borealis"), drivers.TypeLock)
		if r.Verdict != acceptance.Incomplete || r.Devices[0].Result != acceptance.Skipped {
			t.Errorf("without the lock: %s, %+v", r.Verdict, r.Devices[0])
		}
		r = accepted(t, b, acceptance.Person{})
		if r.Verdict != acceptance.Measured || r.Devices[0].Result != acceptance.ByMachine {
			t.Errorf("nobody there: %s, %+v", r.Verdict, r.Devices[0])
		}
	})
}

func accepted(t *testing.T, b *agenttest.Building, p acceptance.Person, without ...string) acceptance.Report {
	t.Helper()
	devices, err := acceptance.Accept(t.Context(), room(t, b, agenttest.Borealis), p, without)
	if err != nil {
		t.Fatal(err)
	}
	return concluded(devices)
}

// Who interrupts leaves a room as it was, with the door locked.
func TestAnInterruptedWalkRestores(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *agenttest.Building) {
		r := room(t, b, agenttest.Borealis)
		ctx, cancel := context.WithCancel(t.Context())
		command := r.Command
		r.Command = func(ctx context.Context, o acceptance.Command) (device.Receipt, error) {
			receipt, err := command(ctx, o)
			if o.Action == drivers.ActOpen {
				cancel()
			}
			return receipt, err
		}
		if _, err := acceptance.Accept(ctx, r, yes(t, b, "borealis"), nil); !errors.Is(err, context.Canceled) {
			t.Errorf("ended with %v", err)
		}
		if s, _ := b.Site.Status(agenttest.Borealis, drivers.TypeLock, ""); s.Value != drivers.Closed {
			t.Errorf("the lock is left %s", s.Value)
		}
	})
}

// A gateway that is gone ends the walk: that is no fault of a device.
func TestAGatewayThatIsGone(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *agenttest.Building) {
		r := room(t, b, agenttest.Borealis)
		r.Command = func(context.Context, acceptance.Command) (device.Receipt, error) {
			return device.Receipt{}, acceptance.ErrUnreachable
		}
		if _, err := acceptance.Accept(t.Context(), r, yes(t, b, "borealis"), nil); !errors.Is(err, acceptance.ErrUnreachable) {
			t.Errorf("ended with %v", err)
		}
	})
}
