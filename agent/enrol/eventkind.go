package enrol

// The events of the certificate.
const (
	eventCertified = "cloudCertified"          // a new one was let in
	eventRefused   = "cloudCertificateRefused" // a new one was not, or the cloud gives none
	eventWrong     = "cloudCertificateWrong"   // the one in use is not taken: ended, not valid yet, refused
)

// EventKinds are the events that this package writes into the log.
func EventKinds() []string { return []string{eventCertified, eventRefused, eventWrong} }
