package cloud

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/eclipse/paho.mqtt.golang/packets"
)

// Cause is why a link has no connection, in one word for machines.
type Cause string

// The causes. An empty one says that nothing is wrong.
const (
	CauseUnreachable Cause = "unreachable"   // no connection: no network, no name, nobody listens
	CauseNoAnswer    Cause = "no_answer"     // the far end took the connection and not the log-in
	CauseTLSWanted   Cause = "tls_wanted"    // we are plain, the far end speaks TLS
	CauseTLSMissing  Cause = "tls_missing"   // the other way round
	CauseUntrusted   Cause = "untrusted"     // its certificate is from another authority, of another name or over
	CauseCertificate Cause = "certificate"   // it does not take our certificate, or we have none
	CauseTLSVersion  Cause = "tls_version"   // it speaks none that is allowed here
	CauseTLS         Cause = "tls"           // any other failure of TLS
	CauseLogin       Cause = "login"         // user or password, or the right to announce the gateway
	CauseClientID    Cause = "client_id"     // it does not take the id
	CauseUnavailable Cause = "unavailable"   // it says that it is not ready
	CauseMayNotRead  Cause = "may_not_read"  // it does not let us subscribe
	CauseMayNotWrite Cause = "may_not_write" // it closes upon what we publish
	CauseClosed      Cause = "closed"        // it closes, and nothing says why
	CauseContested   Cause = "contested"     // another client has this id
	CauseSilent      Cause = "silent"        // it does not answer any more
	CauseProtocol    Cause = "protocol"      // what it says is no MQTT 3.1.1
	// CauseUnacknowledged is no broken connection: the broker takes what it is given,
	// and the backend acknowledges nothing. Some brokers drop without a word what a
	// user may not write.
	CauseUnacknowledged Cause = "unacknowledged"
	CauseReceiver       Cause = "receiver"      // we ended it: what came could not be stored
	CauseMisconfigured  Cause = "misconfigured" // our own password or certificate cannot be read
	causeRenewed        Cause = "renewed"       // we log in again
)

// fault is an error of which the cause is known.
type fault struct {
	cause Cause
	error
}

func (f fault) Unwrap() error { return f.error }

// errTLSHere is a far end that answers MQTT with a record of TLS.
var errTLSHere = errors.New("the far end speaks TLS")

// errMayNotRead is a subscription that the broker refuses.
var errMayNotRead = errors.New("refused by the broker: check the rights of this user there, and its limit of subscriptions")

// causeOf is the cause of an error, of a connection that was logged in or not.
func causeOf(err error, loggedIn bool) Cause {
	var known fault
	var r refusal
	switch {
	case errors.As(err, &known):
		return known.cause
	case errors.As(err, &r):
		return CauseReceiver
	case errors.Is(err, errRenewed):
		return causeRenewed
	case errors.Is(err, errMayNotRead):
		return CauseMayNotRead
	case errors.Is(err, errTLSHere):
		return CauseTLSWanted
	case alert(err) != "":
		return CauseCertificate
	}
	if c := connackCause(err); c != "" {
		return c
	}
	switch {
	case closed(err) && loggedIn:
		return CauseClosed
	case closed(err):
		return CauseNoAnswer
	case timeout(err):
		return CauseSilent
	case networkFailed(err):
		return CauseUnreachable
	}
	return CauseProtocol
}

// connackCause is what a broker that refuses the CONNECT says (MQTT 3.1.1, table 3.1).
func connackCause(err error) Cause {
	switch {
	case errors.Is(err, packets.ErrorRefusedBadUsernameOrPassword), errors.Is(err, packets.ErrorRefusedNotAuthorised):
		return CauseLogin
	case errors.Is(err, packets.ErrorRefusedIDRejected):
		return CauseClientID
	case errors.Is(err, packets.ErrorRefusedServerUnavailable):
		return CauseUnavailable
	case errors.Is(err, packets.ErrorRefusedBadProtocolVersion):
		return CauseProtocol
	}
	return ""
}

// closed is a connection that was closed, by the peer or by what carries it here.
func closed(err error) bool { return closedByPeer(err) || errors.Is(err, net.ErrClosed) }

// networkFailed is what the system says of the way, as EHOSTUNREACH: the far end said nothing.
func networkFailed(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && errors.As(op.Err, new(syscall.Errno))
}

func timeout(err error) bool {
	var n net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &n) && n.Timeout()
}

// alert is what the far end says of our certificate. In TLS 1.3 it comes after the
// handshake, with the first byte that is read. The type of an alert is not exported.
func alert(err error) string {
	for _, words := range []string{"certificate required", "bad certificate", "unknown certificate", "expired certificate", "revoked certificate", "unsupported certificate", "unknown certificate authority", "handshake failure"} {
		if err != nil && strings.Contains(err.Error(), "remote error: tls: "+words) {
			return words
		}
	}
	return ""
}

// tlsCause is the cause of a handshake that failed.
func tlsCause(err error) Cause {
	var (
		verify *tls.CertificateVerificationError
		header tls.RecordHeaderError
	)
	switch {
	case errors.As(err, &verify), errors.As(err, new(x509.UnknownAuthorityError)), errors.As(err, new(x509.HostnameError)), errors.As(err, new(x509.CertificateInvalidError)):
		return CauseUntrusted
	case errors.As(err, &header):
		return CauseTLSMissing
	case strings.Contains(err.Error(), "protocol version"): // its type is not exported
		return CauseTLSVersion
	case alert(err) != "":
		return CauseCertificate
	case timeout(err), closed(err):
		return CauseNoAnswer
	}
	return CauseTLS
}
