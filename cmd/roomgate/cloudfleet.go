package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"roomgate/cloud"
)

// fleetGateway is a gateway as the cloud's broker knows it.
type fleetGateway struct {
	ID       string       `json:"gateway_id"`
	Presence string       `json:"presence"` // online, offline, or unknown
	Since    time.Time    `json:"since,omitzero"`
	Spaces   []fleetSpace `json:"meeting_spaces"`
}

// fleetSpace is the last state of a meeting space.
type fleetSpace struct {
	ID      string `json:"meeting_space_id"`
	Name    string `json:"name"`
	Status  string `json:"status"`
	Devices []struct {
		Type   string `json:"device_type"`
		Sub    string `json:"sub_device"`
		Status string `json:"status"`
	} `json:"devices"`
}

func newFleet() *cobra.Command {
	fleet := &cobra.Command{Use: "fleet", Short: "list the gateways that the cloud's broker knows",
		Long: "Lists what the broker keeps of each gateway: whether it is online, and the last\n" +
			"state of its meeting spaces. It asks no gateway. With --fleet it asks the reference\n" +
			"backend instead, which also knows releases, revisions, locks that are not closed,\n" +
			"and how many rows wait in each gateway.",
		Example: "  roomgate cloud fleet\n  roomgate cloud fleet --cloud mqtts://broker.example.org --username backend\n  roomgate cloud fleet --fleet /var/lib/fleet",
		Args:    cobra.NoArgs, RunE: action(listFleet)}
	cloudFlags(fleet)
	fleet.Flags().String("fleet", "", withVariable(fleetUsage, "fleet"))
	return fleet
}

func listFleet(cmd *cobra.Command, _ []string) error {
	if text(cmd, "fleet") != "" {
		return listGateways(cmd)
	}
	every := cloud.Topics{Gateway: "+"}
	l, err := dialCloud(cmd, every.Up(cloud.LevelPresence), every.Up(cloud.LevelState, "+"))
	if err != nil {
		return err
	}
	defer l.close()
	fleet := l.fleet(cmd)
	return output(cmd, fleet, "GATEWAY PRESENCE SINCE SPACE STATUS DEVICES OFFLINE", func(row func(...string)) {
		for _, g := range fleet {
			since := "-"
			if !g.Since.IsZero() {
				since = g.Since.Format(time.RFC3339)
			}
			if len(g.Spaces) == 0 {
				row(g.ID, g.Presence, since, "-", "-", "-", "-")
			}
			for _, s := range g.Spaces {
				all, offline := s.devices()
				row(g.ID, g.Presence, since, s.Name, s.Status, strconv.Itoa(all), strconv.Itoa(offline))
			}
		}
	})
}

// devices counts the devices, and those that are offline.
func (s fleetSpace) devices() (all, offline int) {
	for _, d := range s.Devices {
		if d.Sub != "" {
			continue
		}
		all++
		if d.Status == "offline" {
			offline++
		}
	}
	return all, offline
}

// fleet is what the broker keeps of gateways, by their ids.
func (l *cloudLink) fleet(cmd *cobra.Command) []*fleetGateway {
	return l.fleetUntil(cmd, func(*fleetGateway) bool { return false })
}

// fleetUntil is fleet as far as it has come when enough is known of a gateway.
func (l *cloudLink) fleetUntil(cmd *cobra.Command, enough func(*fleetGateway) bool) []*fleetGateway {
	known := map[string]*fleetGateway{}
	for end := time.After(cloudLook); ; {
		m, ok := l.next(cmd.Context(), end)
		if !ok {
			break
		}
		id, up, level, _, ok := cloud.ParseTopic(m.Topic)
		var e cloud.Envelope
		if !ok || !up || json.Unmarshal(m.Payload, &e) != nil {
			continue
		}
		if known[id] == nil {
			known[id] = &fleetGateway{ID: id, Presence: "unknown", Spaces: []fleetSpace{}}
		}
		if known[id].hear(level, e); enough(known[id]) {
			break
		}
	}
	return slices.SortedFunc(maps.Values(known), func(x, y *fleetGateway) int { return strings.Compare(x.ID, y.ID) })
}

func (g *fleetGateway) hear(level string, e cloud.Envelope) {
	switch level {
	case cloud.LevelPresence:
		var p struct {
			State string `json:"state"`
		}
		if json.Unmarshal(e.Data, &p) == nil {
			g.Presence, g.Since = p.State, e.Time
		}
	case cloud.LevelState:
		var s fleetSpace
		if json.Unmarshal(e.Data, &s) != nil {
			return
		}
		g.Spaces = slices.DeleteFunc(g.Spaces, func(old fleetSpace) bool { return old.ID == s.ID })
		g.Spaces = append(g.Spaces, s)
		slices.SortFunc(g.Spaces, func(x, y fleetSpace) int { return strings.Compare(x.Name, y.Name) })
	}
}
