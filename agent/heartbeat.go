package agent

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"roomgate/agent/loop"
	"roomgate/agent/update"
	"roomgate/store"
)

// Health is what a heartbeat says.
type Health struct {
	UptimeS        int64       `json:"uptime_s"`
	Version        string      `json:"version"`
	DevicesOnline  int         `json:"devices_online"`
	DevicesOffline int         `json:"devices_offline"`
	OutboxDepth    uint64      `json:"outbox_depth"`    // messages that the cloud has not acknowledged
	OutboxHours    float64     `json:"outbox_hours"`    // hours that the log can still hold at the pace since the start; -1: more than a year
	LogOldest      uint64      `json:"log_oldest"`      // the oldest sequence that replay can give
	StoreBytes     int64       `json:"store_bytes"`     // of the database file
	StoreWritten   int64       `json:"store_written"`   // bytes written to it since the start
	DiskFreeBytes  uint64      `json:"disk_free_bytes"` // of the data folder's disk
	TemperatureC   *float64    `json:"temperature_c"`   // of the processor; null: the board does not say
	Clock          HealthClock `json:"clock"`
	CloudConnected bool        `json:"cloud_connected"`
	CloudContested int         `json:"cloud_contested"` // connections in a row that the broker closed soon, as when another gateway has this id; 0: it is not so
	// NotStarted are installed releases that the last start passed over, as they
	// could not be verified.
	NotStarted  []update.NotStarted `json:"releases_not_started,omitempty"`
	StoreRepair *HealthRepair       `json:"store_repair"` // what the last repair of the database has found, until somebody has looked; null: nothing
}

// HealthClock is what the gateway knows of the time.
type HealthClock struct {
	Now     time.Time `json:"now"`
	Trusted bool      `json:"trusted"`
	Reason  string    `json:"reason,omitempty"` // why it is not: never (as configured), unsynchronized or jumped
	JumpS   int64     `json:"jump_s,omitempty"` // how far it is ahead of the time that was lived through, negative: behind; 0: it has not jumped
}

// Identity is which gateway this is.
type Identity struct {
	ID        string `json:"gateway_id"`
	Name      string `json:"name"`
	Simulated bool   `json:"simulated"` // no hardware is below it
}

// Identity returns which gateway this is.
func (a *Agent) Identity() Identity {
	return Identity{a.config.Gateway.ID, a.config.Gateway.Name, a.options.Simulated}
}

// Health returns how the gateway is now.
func (a *Agent) Health() Health {
	stats := a.db.Stats()
	h := Health{UptimeS: int64(time.Since(a.began.at).Seconds()), Version: a.options.Version, NotStarted: a.options.NotStarted,
		StoreBytes: stats.SizeBytes, StoreWritten: stats.BytesWritten,
		DiskFreeBytes: diskFree(a.options.DataDir), TemperatureC: processorTemperature(),
		Clock:          healthClock(a),
		CloudConnected: a.Cloud.Connected(), CloudContested: a.Cloud.Contested(), StoreRepair: healthRepair(a.Store().Repair())}
	for _, s := range a.spaces() {
		for _, d := range s.devices {
			if d.Readings()[0].Offline() {
				h.DevicesOffline++
			} else {
				h.DevicesOnline++
			}
		}
	}
	a.outboxHealth(&h)
	return h
}

// outboxHealth fills in how the log stands.
func (a *Agent) outboxHealth(h *Health) {
	acked, _ := a.Cloud.Acked()
	var first, last uint64
	rows := 0
	_ = a.db.View(func(tx *store.Tx) error {
		first, last, rows = a.Events.Bounds(tx)
		return nil
	})
	h.LogOldest = first
	h.OutboxDepth = min(last-min(acked, last), uint64(rows))
	h.OutboxHours = -1
	pace := float64(last-min(a.began.seq, last)) / time.Since(a.began.at).Hours()
	if room := float64(a.config.Store.Events) - float64(h.OutboxDepth); pace > 0 && room/pace < 24*366 {
		h.OutboxHours = float64(int(room/pace*10)) / 10
	}
}

func diskFree(dir string) uint64 {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return 0
	}
	return fs.Bavail * uint64(fs.Bsize)
}

// processorTemperature reads the first thermal zone (kernel,
// Documentation/driver-api/thermal/sysfs-api), in °C.
func processorTemperature() *float64 {
	zones, _ := filepath.Glob("/sys/class/thermal/thermal_zone*/temp")
	if len(zones) == 0 {
		return nil
	}
	text, err := os.ReadFile(zones[0])
	if err != nil {
		return nil
	}
	milli, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
	if err != nil {
		return nil
	}
	celsius := milli / 1000
	return &celsius
}

// beat sends the heartbeat. It is worth nothing late, so it is not kept.
func (a *Agent) beat(ctx context.Context) error {
	for ctx.Err() == nil {
		if a.Cloud.Connected() {
			a.Cloud.Send(ctx, "heartbeat", "", false, a.Health())
		}
		loop.Sleep(ctx, a.config.Cloud.Heartbeat)
	}
	return nil
}
