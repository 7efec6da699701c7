package cloudlink

import (
	"cmp"
	"time"

	"roomgate/cloud"
)

// silentFor is how long the backend may acknowledge nothing before that is told.
const silentFor = 2 * time.Minute

// Trouble is what the conversation suffers from; its cause is empty if from nothing.
func (l *Link) Trouble() cloud.Trouble {
	if !l.Configured() {
		return cloud.Trouble{}
	}
	t := l.link.Load().Trouble()
	if silent := l.uplink.Load().Silent(); t.Cause == "" && l.Connected() && silent > silentFor {
		t = cloud.Trouble{Cause: cloud.CauseUnacknowledged, At: time.Now(), Times: 1, Since: time.Now().Add(-silent),
			Error: "nothing was acknowledged for " + silent.Round(time.Second).String()}
	}
	return t
}

// SetSpread is what the cloud wants for cloud.reconnect_spread, in seconds;
// 0: what is configured.
func (l *Link) SetSpread(seconds int) { l.spread.Store(int64(seconds)) }

// Spread is over how long the next first attempt is spread, at least a second.
func (l *Link) Spread() time.Duration {
	return cmp.Or(time.Duration(l.spread.Load())*time.Second, l.o.Cloud.ReconnectSpread, time.Second)
}
