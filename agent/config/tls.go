package config

import "strings"

// tls refuses half a certificate, and two.
func (r *reader) tls(key string, t TLS) {
	if t.Authority && (t.Certificate != "" || t.Key != "") {
		r.refuse(key+".authority", "is true and there is %s.certificate: keep one of the two", key)
		return
	}
	r.together(key+".certificate", t.Certificate, key+".key", t.Key)
}

func (r *reader) httpTLS(h HTTP) {
	t := h.TLS
	r.tls("http.tls", t.TLS)
	switch {
	case t.Redirect && t.Listen == "":
		r.refuse("http.tls.redirect", "is true and there is only one address: set http.tls.listen, as :8443")
	case t.Listen == "":
	case !r.address("http.tls.listen", t.Listen):
	case !t.On():
		r.refuse("http.tls.listen", "needs a certificate: set http.tls.certificate with its key, or http.tls.authority: true")
	case t.Listen == h.Listen && !strings.HasSuffix(h.Listen, ":0"):
		r.refuse("http.tls.listen", "is http.listen too: want another port, as :8443")
	}
}
