package fleet

import (
	"embed"
	"net/http"
)

// The page of the fleet: it asks for the key, and with that what Handler serves.
//
//go:embed page
var page embed.FS

// pages serves the files of the page, which hold nothing of the fleet.
func pages(mux *http.ServeMux) {
	for path, name := range map[string]string{"GET /{$}": "fleet.html", "GET /fleet.js": "fleet.js", "GET /fleet.css": "fleet.css"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			h := w.Header()
			h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'")
			h.Set("X-Content-Type-Options", "nosniff")
			h.Set("Referrer-Policy", "no-referrer")
			h.Set("Cache-Control", "no-cache")
			http.ServeFileFS(w, r, page, "page/"+name)
		})
	}
}
