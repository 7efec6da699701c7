package cloud

import "context"

// Try logs in once and leaves at once: nothing is published, and nothing subscribed to. The cause
// of what it returns is empty if the broker took the log-in. The client id should be no other
// link's, which would be thrown out.
func Try(ctx context.Context, o LinkOptions) Trouble {
	o.Fleeting, o.Will, o.Birth, o.Farewell = true, nil, nil, nil
	l := NewLink(o)
	if l.invalid != nil {
		return Trouble{Cause: CauseMisconfigured, Error: l.invalid.Error()}
	}
	s, err := l.open(ctx)
	if err != nil {
		return Trouble{Cause: causeOf(err, false), Error: err.Error()}
	}
	s.end()
	return Trouble{}
}
