package api

import (
	"net/http"
	"slices"
)

// What pages of another origin may read of an answer and send in a request
// (Fetch Standard, section 3.3). Credentials are headers, never cookies.
const (
	originHeaders = "Authorization, Content-Type, Idempotency-Key, If-Match, Last-Event-ID, X-API-Key, X-Org-Api-Key"
	originReads   = "ETag, Link, Location, Retry-After, WWW-Authenticate"
	originMaxAge  = "600" // seconds that a browser remembers the answer
)

// welcome lets the pages of a configured origin read the answer. It says
// whether the request only asked for that and is answered.
func (d *door) welcome(c *call) bool {
	origin := c.r.Header.Get("Origin")
	if origin == "" || !slices.Contains(d.server.origins, origin) {
		return false
	}
	h := c.w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Add("Vary", "Origin")
	method := c.r.Header.Get("Access-Control-Request-Method")
	if c.r.Method != http.MethodOptions || method == "" {
		h.Set("Access-Control-Expose-Headers", originReads)
		return false
	}
	_ = c.work() // who left while waiting is answered for nobody
	h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE")
	h.Set("Access-Control-Allow-Headers", originHeaders)
	h.Set("Access-Control-Max-Age", originMaxAge)
	_ = c.none()
	return true
}
