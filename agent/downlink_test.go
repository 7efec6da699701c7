package agent

import (
	"maps"
	"slices"
	"testing"

	"roomgate/agent/eventlog"
	"roomgate/agent/goldentest"
	"roomgate/cloud"
)

// TestEveryDownLevelIsTaken: what a gateway listens to is what somebody takes.
func TestEveryDownLevelIsTaken(t *testing.T) {
	taken := append(slices.Collect(maps.Keys(down{}.handlers())), cloud.LevelAck, cloud.LevelEnrol, cloud.LevelReplay) // the link's own
	if slices.Sort(taken); !slices.Equal(taken, cloud.DownLevels()) {
		t.Errorf("taken are %v, listened to %v", taken, cloud.DownLevels())
	}
}

// TestLevelsOfTheLog: the log, which knows no topics, calls its levels as the cloud does.
func TestLevelsOfTheLog(t *testing.T) {
	goldentest.Values(t, "level", goldentest.Pairs{"event": {eventlog.LevelEvent, cloud.LevelEvent}, "receipt": {eventlog.LevelReceipt, cloud.LevelReceipt},
		"booking": {eventlog.LevelBooking, cloud.LevelBooking}, "message": {eventlog.LevelMessage, cloud.LevelMessage}})
}
