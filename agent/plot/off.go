package plot

import "time"

// Off is a time in which nobody looked.
type Off struct{ From, To time.Time }

// Without are samples, oldest first, of which nothing is known in times in which nobody looked.
// What was so before, and is not said to be another way after, is so again.
func Without(all []Sample, off []Off) []Sample {
	for _, o := range off {
		var kept, later []Sample
		before := ""
		for _, s := range all {
			if !s.At.Before(o.To) {
				later = append(later, s)
				continue
			}
			before = s.Value
			if !s.At.After(o.From) {
				kept = append(kept, s)
			}
		}
		if len(kept) > 0 {
			kept = append(kept, Sample{At: o.From})
		}
		if before != "" && (len(later) == 0 || later[0].At.After(o.To)) {
			kept = append(kept, Sample{o.To, before})
		}
		all = append(kept, later...)
	}
	return all
}
