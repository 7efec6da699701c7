package agent

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"roomgate/agent/booking"
	"roomgate/agent/config"
	"roomgate/agent/device"
	"roomgate/agent/eventlog"
	"roomgate/agent/problem"
	"roomgate/agent/schedule"
	"roomgate/agent/webhook"
	"roomgate/agent/webhook/webhooktest"
	"roomgate/store"
)

// another is an organization that owns no room.
const another = "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4ac9"

const owner = "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4ac0"

// owned has a room of an organization with a sensor, and a room of nobody's.
const owned = `
gateway: {id: test}
clock: {trust: always}
store: {events: 100000}
spaces:
  - id: ` + room + `
    name: Aurora
    customer_id: ` + owner + `
    devices:
      - {id: hub-1, type: o3-sensor, driver: scripted-hub, poll: 5m, timeout: 1s, options: {name: hub-1}}
  - {id: ` + otherRoom + `, name: Borealis}
`

// The tables of package webhook, for tests that look at the whole database.
var (
	webhookRows  = store.NewTable[map[string]any]("webhooks")
	deliveryRows = store.NewTable[webhook.Delivery]("deliveries")
)

// hookRig is a building with webhooks.
type hookRig struct {
	*rig
	flooded int // bookings that flood has made
	out     *webhooktest.Receivers
}

// openHookRig opens a building without running it. A client, if there is one,
// sends the notifications instead of the one that leads to out.
func openHookRig(t *testing.T, client *http.Client) *hookRig {
	t.Helper()
	r := &hookRig{out: &webhooktest.Receivers{}}
	if client == nil {
		client = r.out.Client()
	}
	b := newBench()
	c, err := config.Parse("test.yaml", []byte(owned), b.kinds())
	if err != nil {
		t.Fatal(err)
	}
	a, err := Open(t.Context(), Options{Config: c, Buses: &noBuses{}, DataDir: t.TempDir(), Version: "test", Webhooks: client})
	if err != nil {
		t.Fatal(err)
	}
	r.rig = &rig{Agent: a, t: t, bench: b, stop: func() {}}
	if _, err := a.Access.CreateOrganization(t.Context(), another, "Another"); err != nil && device.AsError(err).Code != problem.Conflict {
		t.Fatal(err)
	}
	return r
}

func startHookRig(t *testing.T) *hookRig {
	t.Helper()
	r := openHookRig(t, nil)
	r.run()
	return r
}

// hook registers a webhook at NAME.example.com.
func (r *hookRig) hook(name, organization string, events ...string) webhook.Info {
	r.t.Helper()
	w, _, err := r.Webhooks.Create(context.Background(), webhook.Request{OrganizationID: organization, URL: "https://" + name + ".example.com/in?token=hidden",
		Events: events, Secret: webhook.Secret("the secret of " + name)})
	if err != nil {
		r.t.Fatal(err)
	}
	return w
}

// wantLines checks what has come to the receivers since the last time.
func (r *hookRig) wantLines(what string, want ...string) {
	r.t.Helper()
	got := r.out.Lines()
	slices.Sort(got)
	if !slices.Equal(got, want) {
		r.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// flood makes so many bookings happen at once.
func (r *hookRig) flood(n int) {
	r.t.Helper()
	owner, err := r.Site.OrganizationOf(room)
	if err != nil {
		r.t.Fatal(err)
	}
	err = r.Events.Update(context.Background(), func(tx *store.Tx) error {
		for i := range n {
			start := on(40, 0).Add(time.Duration(r.flooded+i) * time.Hour)
			err := r.Events.Tell(tx, eventlog.Record{Type: schedule.Created, Time: r.Now(), Space: room, Device: eventlog.SpaceDevice,
				Details: map[string]any{"booking_id": fmt.Sprintf("f%05d", r.flooded+i), "organization_id": owner, "state": booking.Cancelled,
					"source": "", "revision": 1, "start_time": eventlog.Stamp(start), "end_time": eventlog.Stamp(start.Add(time.Hour)), "organizer": booking.Person{}}})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	r.flooded += n
}
