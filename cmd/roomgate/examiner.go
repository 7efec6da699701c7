package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"sync/atomic"
	"time"

	"roomgate/agent/console"
)

const (
	// examineEvery is how old what the doctor has found may be while somebody looks.
	examineEvery = 2 * time.Minute
	// examineLeast is for how long the doctor rests in any case, however often devices go and come.
	examineLeast = 5 * time.Second
	// examineTime bounds an examination.
	examineTime = 30 * time.Second
)

// examiner has the doctor look at the gateway while somebody looks at the console. It is
// a process of its own: a check that hangs or fails costs the gateway nothing.
type examiner struct {
	args   []string
	log    *slog.Logger
	wanted chan struct{}
	last   atomic.Pointer[console.Findings]
}

func newExaminer(g *gateway) *examiner {
	x := &examiner{args: []string{"doctor", "--output", "json", "--data", g.config.Data}, log: g.log, wanted: make(chan struct{}, 1)}
	if g.file != "" {
		x.args = append(x.args, "--config", g.file)
	}
	return x
}

// findings are the last ones. Those that are old, or from before a time, are on the way to be
// replaced.
func (x *examiner) findings(since time.Time) console.Findings {
	f := x.last.Load()
	if f == nil || time.Since(f.At) > examineEvery || f.At.Before(since) && time.Since(f.At) > examineLeast {
		select {
		case x.wanted <- struct{}{}:
		default: // it is wanted already
		}
	}
	if f == nil {
		return console.Findings{}
	}
	return *f
}

func (x *examiner) run(ctx context.Context) error {
	for {
		select {
		case <-x.wanted:
			f := console.Findings{At: time.Now()}
			all, err := x.examine(ctx)
			if err != nil {
				x.log.Warn("the doctor cannot examine the gateway", "error", err)
				all = []console.Finding{{Name: "doctor", State: "warn", Seen: err.Error(), Fix: "run roomgate doctor on the gateway"}}
			}
			f.All = all
			x.last.Store(&f)
		case <-ctx.Done():
			return nil
		}
	}
}

func (x *examiner) examine(ctx context.Context) ([]console.Finding, error) {
	ctx, cancel := context.WithTimeout(ctx, examineTime)
	defer cancel()
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	said, failed := exec.CommandContext(ctx, program, x.args...).Output() // it ends with 1 if it has found a fault
	var d struct {
		Findings []console.Finding `json:"findings"`
	}
	if err := json.Unmarshal(said, &d); err != nil {
		return nil, fmt.Errorf("it does not answer: %w", cmp.Or(failed, err))
	}
	return d.Findings, nil
}
