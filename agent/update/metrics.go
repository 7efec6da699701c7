package update

import (
	"fmt"
	"io"
)

// WriteMetrics writes how updates stand in the Prometheus text format (version
// 0.0.4). Labels are versions and causes, of which a gateway has few.
func (u Status) WriteMetrics(w io.Writer) {
	family := func(name, help string) {
		fmt.Fprintf(w, "# HELP roomgate_update_%s %s\n# TYPE roomgate_update_%s gauge\n", name, help, name)
	}
	trial := ""
	if u.Trial != nil {
		trial = u.Trial.Version
	}
	family("info", "The release that runs, the one that is kept beside it, the one that waits and the one on trial.")
	fmt.Fprintf(w, "roomgate_update_info{running=%q,other=%q,next=%q,trial=%q} 1\n", u.Running, u.Other, u.Next, trial)
	family("state", "1 for what updates do now: steady, waiting for a moment, or on trial.")
	now := u.state()
	for _, state := range []string{"steady", "waiting", "trial"} {
		fmt.Fprintf(w, "roomgate_update_state{state=%q} %d\n", state, number(state == now))
	}
	family("damaged", "1 if the note of which release runs was lost.")
	fmt.Fprintf(w, "roomgate_update_damaged %d\n", number(u.Damaged != ""))
	family("not_started", "Confirmed releases that the last start passed over, and this one if the next start would.")
	fmt.Fprintf(w, "roomgate_update_not_started %d\n", len(u.NotStarted))
	if u.Fetch == nil {
		u.Fetch = &Fetching{}
	}
	family("fetched_bytes", "Bytes that have arrived of the bundle that the cloud wants; 0: it wants none that is not here.")
	fmt.Fprintf(w, "roomgate_update_fetched_bytes %d\n", u.Fetch.Have)
	family("fetch_failing", "1 while that bundle cannot be fetched.")
	fmt.Fprintf(w, "roomgate_update_fetch_failing %d\n", number(u.Fetch.Problem != ""))
	family("failed_timestamp_seconds", "When the last release was given up; none since one proved itself.")
	if f := u.Failed; f != nil {
		fmt.Fprintf(w, "roomgate_update_failed_timestamp_seconds{version=%q} %d\n", f.Version, f.At.Unix())
	}
	family("refused_timestamp_seconds", "When the last bundle was not taken, and the kind of reason; none since one was.")
	if f := u.Refused; f != nil {
		fmt.Fprintf(w, "roomgate_update_refused_timestamp_seconds{cause=%q} %d\n", f.Cause, f.At.Unix())
	}
}

// state is what updates do now.
func (u Status) state() string {
	switch {
	case u.Trial != nil:
		return "trial"
	case u.Next != "":
		return "waiting"
	}
	return "steady"
}

func number(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
