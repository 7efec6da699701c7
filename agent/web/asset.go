package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"strings"
	"sync"
)

//go:embed asset
var assetFiles embed.FS

// Asset is a script or a stylesheet.
type Asset struct {
	Type   string // its media type
	Plain  []byte
	Packed []byte // by gzip
}

// bundles are the assets, by what they are made of, in order. What all pages share
// stands first.
var bundles = map[string][]string{
	"door.js":     {"core.js", "door.js"},
	"door.css":    {"core.css", "door.css"},
	"console.js":  {"core.js", "console.js"},
	"console.css": {"core.css", "console.css", "manage.css"},
	"claim.css":   {"claim.css"},
	"openapi.css": {"openapi.css"},
}

// made is the assets by the names under which pages ask for them, and those names
// by the names of bundles.
type made struct {
	byName map[string]Asset
	names  map[string]string
}

// assets are made once, when the first page is asked for.
var assets = sync.OnceValue(func() made {
	all := made{map[string]Asset{}, map[string]string{}}
	for bundle, parts := range bundles {
		var plain bytes.Buffer
		for _, part := range parts {
			text, err := assetFiles.ReadFile("asset/" + part)
			if err != nil {
				panic(err) // it is embedded, and a test asks for all of them
			}
			plain.Write(text)
		}
		sum := sha256.Sum256(plain.Bytes())
		stem, kind, _ := strings.Cut(bundle, ".")
		name := stem + "." + hex.EncodeToString(sum[:6]) + "." + kind
		all.names[bundle] = name
		all.byName[name] = Asset{mediaTypes[kind], plain.Bytes(), pack(plain.Bytes())}
	}
	return all
})

var mediaTypes = map[string]string{"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8"}

func pack(plain []byte) []byte {
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // the level is one
	_, _ = w.Write(plain)                                   // a buffer takes everything
	_ = w.Close()
	return out.Bytes()
}

// FindAsset returns the asset of that name; its name has the sum of what is in it,
// so whoever has it has it for good.
func FindAsset(name string) (Asset, bool) {
	a, ok := assets().byName[name]
	return a, ok
}

// AssetPath is where a page finds a bundle.
func AssetPath(bundle string) string { return "/web/" + AssetName(bundle) }

// build tells the script and the stylesheet of a door page from those of another
// version of the gateway.
func build() string { return AssetName("door.js") + " " + AssetName("door.css") }

// policy is what a page may load and do: what the gateway itself serves, and
// pictures that the script makes.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'none'; frame-ancestors 'none'; base-uri 'none'"

// Guard writes the headers that keep a page to itself.
func Guard(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Frame-Options", "DENY") // for browsers that know no frame-ancestors
}

// AssetName is under which name a page asks for a bundle, as "door.js".
func AssetName(bundle string) string { return assets().names[bundle] }
