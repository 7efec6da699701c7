package cloud

import "time"

// Trouble is why a link has no connection, or had none a moment ago.
type Trouble struct {
	Cause Cause
	Topic string    // what the cause is about; empty: nothing in particular
	Error string    // as the connection ended or could not be made
	At    time.Time // when it was last met
	Times int       // how often in a row
	Since time.Time // when the row began; a connection shorter than MaxBackoff, a minute, does not end it
}

// Trouble is what was met last. Its cause is empty once a connection has held,
// for as long as the longest pause.
func (l *Link) Trouble() Trouble {
	l.mu.Lock()
	t, s := l.trouble, l.session
	l.mu.Unlock()
	if s != nil && s.ctx.Err() == nil && time.Since(s.upAt) >= l.o.MaxBackoff {
		return Trouble{}
	}
	if t.Cause != "" {
		t.Since = time.Now().Add(-time.Since(t.Since)) // as the wall clock says it now
	}
	return t
}

// lose forgets a connection that has ended. One that has held ends a row of troubles.
func (l *Link) lose(s *session) {
	l.set(nil)
	if time.Since(s.upAt) < l.o.MaxBackoff {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trouble, l.since = Trouble{}, time.Time{}
}

// met remembers a trouble, and says whether it is worth a line of its own: one
// that goes on is told once a minute.
func (l *Link) met(cause Cause, topic string, err error) (t Trouble, tell bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.since.IsZero() {
		l.since = time.Now()
	}
	t = Trouble{Cause: cause, Topic: topic, Error: err.Error(), At: time.Now(), Times: 1, Since: l.since}
	if l.trouble.Cause == cause && l.trouble.Topic == topic {
		t.Times += l.trouble.Times
	}
	l.trouble = t
	if tell = t.Times == 1 || time.Since(l.told) >= time.Minute; tell {
		l.told = time.Now()
	}
	return t, tell
}

// Seen is the trouble in words, for people.
func (t Trouble) Seen() string {
	switch t.Cause {
	case "":
		return ""
	case CauseUnreachable:
		return "the broker is not reached"
	case CauseNoAnswer:
		return "the far end takes the connection and closes it before it answers the log-in"
	case CauseTLSWanted:
		return "the far end speaks TLS, and cloud.url says mqtt://"
	case CauseTLSMissing:
		return "the far end speaks no TLS, and cloud.url says mqtts://"
	case CauseUntrusted:
		return "the broker's certificate is not trusted"
	case CauseCertificate:
		return "the broker does not take the gateway's certificate, or wants one and gets none"
	case CauseTLSVersion:
		return "the broker speaks no version of TLS that is allowed here"
	case CauseTLS:
		return "TLS with the broker failed"
	case CauseLogin:
		return "the broker refuses the log-in"
	case CauseClientID:
		return "the broker refuses the client id"
	case CauseUnavailable:
		return "the broker says that it is not available"
	case CauseMayNotRead:
		return "the broker refuses the subscription to " + t.Topic
	case CauseMayNotWrite:
		return "the broker closes the connection when this user writes " + t.Topic
	case CauseClosed:
		return "the broker, or something on the way to it, closes the connection"
	case CauseContested:
		return "another client uses the id of this one"
	case CauseSilent:
		return "the broker does not answer any more"
	case CauseUnacknowledged:
		return "the broker takes what goes up, and the backend acknowledges nothing"
	case CauseReceiver:
		return "this side could not store a message that came down, and gave the connection up"
	case CauseMisconfigured:
		return "the log-in cannot be read"
	}
	return "the far end does not speak MQTT 3.1.1"
}

// Fix is what to do about it; empty: nothing, or nobody knows.
func (t Trouble) Fix() string {
	switch t.Cause {
	case CauseUnreachable:
		return "check cloud.url, the network, and that the building's firewall lets the port pass"
	case CauseNoAnswer:
		return "see the broker's log; if its port is for TLS, write cloud.url as mqtts://; if it starts just now, wait"
	case CauseTLSWanted:
		return "write cloud.url as mqtts://"
	case CauseTLSMissing:
		return "name the broker's port for TLS in cloud.url (most often 8883); mqtt:// is only for a network that nobody else is on"
	case CauseUntrusted:
		return "set cloud.ca_file (at a command of the cloud: --ca-file) to the authority that signed the broker's certificate, write the name in cloud.url that the certificate has, and check the clock"
	case CauseCertificate, CauseTLS:
		return "set cloud.client_certificate and cloud.client_key to a pair that the broker's authority signed and that has not expired"
	case CauseTLSVersion:
		return "let the broker speak TLS 1.3, or allow an old one: cloud.tls_min: \"1.2\""
	case CauseLogin:
		return "check cloud.username and cloud.password_file, and that this user may write up/presence at the broker"
	case CauseClientID:
		return "choose another gateway.id, or allow this one at the broker"
	case CauseMayNotRead:
		return "let this user read all below down/ at the broker; if it may, raise the limit of subscriptions there (NATS: 1000 consumers for each stream by default)"
	case CauseMayNotWrite:
		return "let this user write all below up/ at the broker"
	case CauseClosed:
		return "see the log of the broker and of what is between: a limit, a proxy, or a right"
	case CauseContested:
		return "find the other one, and give one of the two another gateway.id"
	case CauseSilent, CauseProtocol:
		return "see what listens at cloud.url, and what is between"
	case CauseUnacknowledged:
		return "may this user write up/# and read down/# at the broker? Some (Mosquitto) drop the rest without a word. If it may, see that the backend runs"
	case CauseReceiver:
		return "see roomgate doctor for disk and database"
	case CauseMisconfigured:
		return "check that the files of cloud.password_file, cloud.client_certificate and cloud.client_key exist and that the service may read them"
	}
	return ""
}
