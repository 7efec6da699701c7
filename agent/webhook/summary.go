package webhook

import "time"

// Summary is the webhooks by their state.
type Summary struct {
	Active   int     `json:"active"`
	Failing  int     `json:"failing"`
	Disabled int     `json:"disabled"`
	Waiting  int     `json:"waiting"`  // deliveries
	OldestS  float64 `json:"oldest_s"` // seconds since the oldest of them came
	// Troubled are those that fail, at most ten.
	Troubled []Troubled `json:"troubled"`
}

// Troubled is a webhook that fails.
type Troubled struct {
	ID     string `json:"id"`
	Host   string `json:"host"`
	Reason string `json:"reason"`
}

// maxTroubled bounds the webhooks that are named.
const maxTroubled = 10

// Summary returns how the webhooks stand.
func (ds *Dispatcher) Summary() Summary {
	s, oldest := ds.count()
	for webhookID, id := range oldest {
		if d, err := ds.delivery(webhookID, id); err == nil {
			s.OldestS = max(s.OldestS, seconds(ds.clock.Now().Sub(d.CreatedAt)))
		}
	}
	return s
}

// count is the summary without the oldest delivery, and of each webhook for
// which some wait the one that has waited longest.
func (ds *Dispatcher) count() (s Summary, oldest map[string]string) {
	s.Troubled, oldest = []Troubled{}, map[string]string{}
	for _, w := range ds.List("") {
		switch w.State {
		case Active:
			s.Active++
		case Failing:
			s.Failing++
			if len(s.Troubled) < maxTroubled {
				s.Troubled = append(s.Troubled, Troubled{w.ID, hostOf(w.URL), w.Reason})
			}
		case Disabled:
			s.Disabled++
		}
		s.Waiting += w.Pending
		if id := ds.oldest(w.ID); id != "" {
			oldest[w.ID] = id
		}
	}
	return s, oldest
}

// oldest is the delivery that has waited longest for a webhook, or empty.
func (b *book) oldest(webhookID string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := b.byID[webhookID]
	if w == nil || len(w.waiting) == 0 {
		return ""
	}
	return w.waiting[0].id // they are in the order of their ids
}

// seconds is a length of time in seconds, to the millisecond.
func seconds(d time.Duration) float64 { return float64(d.Milliseconds()) / 1000 }
