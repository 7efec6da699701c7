package health

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"roomgate/agent/clock"
	"roomgate/store"
)

// Report is what a heartbeat says.
type Report struct {
	UptimeS        int64   `json:"uptime_s"`
	Version        string  `json:"version"`
	DevicesOnline  int     `json:"devices_online"`
	DevicesOffline int     `json:"devices_offline"`
	OutboxDepth    uint64  `json:"outbox_depth"` // messages that the cloud has not acknowledged
	OutboxHours    float64 `json:"outbox_hours"` // hours that the log can still hold at the pace since the start; -1: more than a year
	LogOldest      uint64  `json:"log_oldest"`   // the oldest sequence that replay can give
	LogNewest      uint64  `json:"log_newest"`   // the newest sequence of the log
	LogHead        string  `json:"log_head"`     // its sum, which stands for all of the log before it: see eventlog.Log.Head; empty: none yet
	StoreState
	TemperatureC *float64 `json:"temperature_c"` // of the processor; null: the board does not say
	Clock        Clock    `json:"clock"`
	CloudState
	DoorOrders     string   `json:"door_orders"`     // of the cloud: DoorsSigned, or DoorsUnsigned while they may be
	SigningKeys    []string `json:"signing_keys"`    // the ids of the keys that the cloud's signatures are verified by
	ConfigRevision uint64   `json:"config_revision"` // of the configuration of the cloud that is in force; 0: none is
	// NotStarted are installed releases that the last start passed over, as they
	// could not be verified.
	NotStarted  []NotStarted `json:"releases_not_started,omitempty"`
	StoreRepair *Repair      `json:"store_repair"` // what the last repair of the database has found, until somebody has looked; null: nothing
	// Degraded is what the gateway lacks, as its disk does not take what is to be stored; absent: nothing.
	Degraded *Degraded `json:"degraded,omitempty"`
}

// NotStarted is a release that did not run, and why.
type NotStarted struct {
	Version string `json:"version"`
	Reason  string `json:"reason"`
}

// StoreState is how large the database is, how much it writes, and what it lies on.
type StoreState struct {
	StoreBytes   int64 `json:"store_bytes"`   // of the database file
	StoreWritten int64 `json:"store_written"` // bytes written to it since the start
	// StoreWrittenDay is what was written in the last 24 hours, or since the start,
	// with what the snapshots of the database have written.
	StoreWrittenDay int64  `json:"store_written_day"`
	Card            *Card  `json:"card"`            // the disk of the data folder; null: not known
	DiskFreeBytes   uint64 `json:"disk_free_bytes"` // of the data folder's disk
}

// CloudState is how the link to the cloud is.
type CloudState struct {
	CloudConnected bool `json:"cloud_connected"`
	CloudContested int  `json:"cloud_contested"` // connections in a row that the broker closed soon, as another gateway has this id; 0: it is not so
	// CloudTrouble is why the link is down, or was a minute ago at most; nil: it is well.
	CloudTrouble *Trouble `json:"cloud_trouble,omitempty"`
	// CloudCertificate is that which the gateway gets from its cloud; nil: there is to be none.
	CloudCertificate *Certificate `json:"cloud_certificate,omitempty"`
}

// What a heartbeat says of the cloud's commands to doors.
const (
	DoorsSigned   = "signed"
	DoorsUnsigned = "unsigned"
)

// Clock is what the gateway knows of the time.
type Clock struct {
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
func (m *Monitor) Identity() Identity {
	return Identity{m.o.Config.Gateway.ID, m.o.Config.Gateway.Name, m.o.Simulated}
}

// Report returns how the gateway is now.
func (m *Monitor) Report() Report {
	stats, cloud := m.o.DB.Stats(), m.o.Cloud()
	r := Report{DoorOrders: DoorsSigned, SigningKeys: cloud.SigningKeys, ConfigRevision: cloud.Revision, UptimeS: int64(m.Uptime().Seconds()), Version: m.o.Version, NotStarted: m.o.NotStarted,
		StoreState:   StoreState{StoreBytes: stats.SizeBytes, StoreWritten: stats.BytesWritten, StoreWrittenDay: stats.BytesDay, DiskFreeBytes: diskFree(m.o.DataDir)},
		TemperatureC: processorTemperature(),
		Clock:        m.Clock(),
		CloudState:   CloudState{cloud.Connected, cloud.Contested, cloud.Trouble, cloud.Certificate}, StoreRepair: RepairOf(m.Database.Repair()), Degraded: m.Database.Degraded()}
	if cloud.DoorsUnsigned {
		r.DoorOrders = DoorsUnsigned
	}
	for _, s := range m.o.Spaces() {
		for _, d := range s.Devices {
			if d.Readings()[0].Offline() {
				r.DevicesOffline++
			} else {
				r.DevicesOnline++
			}
		}
	}
	if m.card != nil {
		r.Card = m.card.at(r.UptimeS, r.StoreWrittenDay)
	}
	m.outbox(&r, cloud.Acked)
	return r
}

// outbox fills in how the log stands.
func (m *Monitor) outbox(r *Report, acked uint64) {
	var first, last uint64
	rows := 0
	_ = m.o.DB.View(func(tx *store.Tx) error {
		first, last, rows = m.o.Events.Bounds(tx)
		return nil
	})
	r.LogOldest = first
	seq, head, _ := m.o.Events.Head()
	r.LogNewest, r.LogHead = seq, hex.EncodeToString(head)
	r.OutboxDepth = min(last-min(acked, last), uint64(rows))
	r.OutboxHours = -1
	pace := float64(last-min(m.began, last)) / m.Uptime().Hours()
	if free := float64(m.o.Config.Store.Events) - float64(r.OutboxDepth); pace > 0 && free/pace < 24*366 {
		r.OutboxHours = float64(int(free/pace*10)) / 10
	}
}

// Clock is what a heartbeat says of the clock.
func (m *Monitor) Clock() Clock {
	v := m.o.Clock.Verdict()
	return Clock{v.Wall.UTC(), v.Trust == clock.Trusted, v.Why(m.o.Config.Clock.Trust), int64(v.Jump.Round(time.Second).Seconds())}
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
