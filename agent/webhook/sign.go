package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The headers of a notification.
const (
	HeaderSignature = "X-Webhook-Signature"
	// HeaderPrevious is HeaderSignature by the secret that is being replaced.
	HeaderPrevious          = "X-Webhook-Signature-Previous"
	HeaderID                = "Webhook-Id"
	HeaderTimestamp         = "Webhook-Timestamp" // seconds, of the attempt
	HeaderStandardSignature = "Webhook-Signature"
)

// sign sets the signatures of a body that is sent now, see the package.
func sign(h http.Header, id string, body []byte, secrets []Secret, now time.Time) {
	seconds := strconv.FormatInt(now.Unix(), 10)
	standard := make([]string, len(secrets))
	for i, s := range secrets {
		standard[i] = "v1," + base64.StdEncoding.EncodeToString(mac(s.standardKey(), []byte(id), []byte("."+seconds+"."), body))
	}
	h.Set(HeaderID, id)
	h.Set(HeaderTimestamp, seconds)
	h.Set(HeaderStandardSignature, strings.Join(standard, " "))
	h.Set(HeaderSignature, hex.EncodeToString(mac([]byte(secrets[0]), body)))
	if len(secrets) > 1 {
		h.Set(HeaderPrevious, hex.EncodeToString(mac([]byte(secrets[1]), body)))
	}
}

// mac is the HMAC-SHA256 (RFC 2104) of the parts, one after the other.
func mac(key []byte, parts ...[]byte) []byte {
	m := hmac.New(sha256.New, key)
	for _, p := range parts {
		_, _ = m.Write(p) // a hash takes everything
	}
	return m.Sum(nil)
}
