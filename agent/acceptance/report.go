package acceptance

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"roomgate/agent/clock"
	"roomgate/agent/health"
)

// Result is how a step, or a device, came out.
type Result string

// The results. A step is Unseen if only a person could see it and nobody
// looked; a device with such a step is ByMachine.
const (
	Passed    Result = "passed"
	Failed    Result = "failed"
	Skipped   Result = "skipped"
	Unseen    Result = "unseen"
	ByMachine Result = "measured"
)

// Verdict is the outcome of a whole report.
type Verdict string

// The verdicts.
const (
	Accepted   Verdict = "accepted"   // everything was measured or seen, and right
	Measured   Verdict = "measured"   // what a machine can measure was right, nobody looked
	Incomplete Verdict = "incomplete" // something was skipped
	Refused    Verdict = "failed"     // something was wrong
)

// Step is one thing that was tried with a device.
type Step struct {
	SubDevice string  `json:"sub_device,omitempty"`
	Name      string  `json:"name"` // what was ordered, read or asked
	Result    Result  `json:"result"`
	Seen      string  `json:"seen,omitempty"`   // what was measured
	Source    string  `json:"source,omitempty"` // what measured it
	LatencyMS float64 `json:"latency_ms,omitempty"`
	Note      string  `json:"note,omitempty"` // of the person, or why it failed
}

// Picture is what a camera or a display showed.
type Picture struct {
	Caption     string    `json:"caption"`
	At          time.Time `json:"at"`
	ContentType string    `json:"content_type"`
	Width       int       `json:"width"`
	Height      int       `json:"height"`
	SHA256      string    `json:"sha256"`
	Data        []byte    `json:"-"` // it is in the HTML
}

// DeviceReport is what was found of one device.
type DeviceReport struct {
	ID       string    `json:"id"`
	Type     string    `json:"type"`
	Driver   string    `json:"driver"`
	Result   Result    `json:"result"`
	Steps    []Step    `json:"steps"`
	Pictures []Picture `json:"pictures,omitempty"`
}

// Report is the acceptance report of a meeting space.
type Report struct {
	Space      string          `json:"meeting_space"`
	SpaceID    string          `json:"meeting_space_id"`
	Timezone   string          `json:"timezone"`
	Gateway    health.Identity `json:"gateway"`
	Version    string          `json:"version"`      // of the gateway
	Tool       string          `json:"tool_version"` // of the program that wrote this
	By         string          `json:"by"`           // who signed, empty for nobody
	StartedAt  time.Time       `json:"started_at"`
	FinishedAt time.Time       `json:"finished_at"`
	TimeTrust  clock.Trust     `json:"time_trust"`
	Verdict    Verdict         `json:"verdict"`
	Failed     []string        `json:"failed"` // the device types that failed
	Devices    []DeviceReport  `json:"devices"`
}

// judge makes the device's result of its steps: the gravest counts.
func (d *DeviceReport) judge() {
	d.Result = Passed
	for _, worse := range []Result{Unseen, Skipped, Failed} {
		if slices.ContainsFunc(d.Steps, func(s Step) bool { return s.Result == worse }) {
			d.Result = worse
		}
	}
	if d.Result == Unseen {
		d.Result = ByMachine
	}
}

// Judge makes the verdict of the devices' results.
func (r *Report) Judge() {
	r.Verdict, r.Failed = Accepted, []string{}
	for _, d := range r.Devices {
		switch {
		case d.Result == Failed:
			r.Failed = append(r.Failed, d.Type)
		case d.Result == Skipped:
			r.Verdict = Incomplete
		case d.Result == ByMachine && r.Verdict == Accepted:
			r.Verdict = Measured
		}
	}
	if len(r.Failed) > 0 {
		r.Verdict = Refused
	}
}

// Name is what the report's files are called, without what follows the dot:
// space and date, by the space's own zone.
func (r Report) Name() string {
	letters := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			return c
		}
		return '-'
	}, strings.ToLower(r.Space))
	if letters = strings.Trim(letters, "-"); letters == "" {
		letters = r.SpaceID
	}
	return letters + "-" + r.local(r.StartedAt).Format(time.DateOnly)
}

// local is a time in the space's zone.
func (r Report) local(t time.Time) time.Time {
	zone, err := time.LoadLocation(r.Timezone)
	if err != nil {
		zone = time.UTC
	}
	return t.In(zone)
}

func fingerprint(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
