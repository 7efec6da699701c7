package web

import (
	"bytes"
	"compress/gzip"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

// TestScriptsAreOld: a WebView of 2017 knows nothing newer than ES2017.
func TestScriptsAreOld(t *testing.T) {
	for name := range bundles {
		a, ok := FindAsset(AssetName(name))
		if !ok || !strings.HasSuffix(name, ".js") {
			continue
		}
		if said := newer(string(a.Plain)); said != "" {
			t.Errorf("%s: %s", name, said)
		}
	}
	for _, modern := range []string{"a?.b", "a ?? b", "({...a})", "try {} catch {}", "async function* f() {}", "class A { #x }", "for await (const a of b) {}"} {
		if newer(modern) == "" {
			t.Errorf("%s is taken for ES2017", modern)
		}
	}
}

// newer says what of a script is newer than ES2017: what a compiler has to rewrite for
// it is. Its notation alone is judged; what a browser offers is not.
func newer(script string) string {
	plain := api.Transform(script, api.TransformOptions{Target: api.ESNext, Loader: api.LoaderJS})
	old := api.Transform(script, api.TransformOptions{Target: api.ES2017, Loader: api.LoaderJS})
	switch {
	case len(plain.Errors) > 0:
		return plain.Errors[0].Text
	case len(old.Errors) > 0:
		return old.Errors[0].Text
	case !bytes.Equal(plain.Code, old.Code):
		return "it has something that ES2017 does not have"
	}
	return ""
}

// TestStylesAreOld refuses what Chrome 60 does not know and does without.
func TestStylesAreOld(t *testing.T) {
	refused := regexp.MustCompile(`(^|[^-a-z])(gap|row-gap|column-gap|inset|aspect-ratio|accent-color|place-items)\s*:|:is\(|:where\(|:has\(|clamp\(|\bmin\(|\bmax\(|\d[ds]v[hw]|@layer|@container|color-mix|&`)
	for name := range bundles {
		a, _ := FindAsset(AssetName(name))
		for line := range strings.Lines(string(a.Plain)) {
			if found := refused.FindString(line); found != "" && strings.HasSuffix(name, ".css") {
				t.Errorf("%s: %q in %s", name, found, line)
			}
		}
	}
	for _, modern := range []string{"a{gap:1px}", "a{inset:0}", "a:is(b){}", "a{width:min(1px,2px)}", "a{height:100dvh}"} {
		if !refused.MatchString(modern) {
			t.Errorf("%s is taken", modern)
		}
	}
}

// TestPagesAreSmall holds what goes over the wire: 8 kB for the script of a page, 30
// kB in all.
func TestPagesAreSmall(t *testing.T) {
	page, err := RenderShell("7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01", "Aurora", "en", "http://192.0.2.1:8080/console/displays?id=7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01")
	if err != nil {
		t.Fatal(err)
	}
	all := len(page)
	for name, limit := range map[string]int{"door.js": 8 << 10, "door.css": 8 << 10} {
		a, _ := FindAsset(AssetName(name))
		all += len(a.Packed)
		t.Logf("%s: %d bytes, %d packed", name, len(a.Plain), len(a.Packed))
		if len(a.Packed) > limit {
			t.Errorf("%s has %d bytes packed, more than %d", name, len(a.Packed), limit)
		}
		r, err := gzip.NewReader(bytes.NewReader(a.Packed))
		if err != nil {
			t.Fatal(err)
		}
		if plain, err := io.ReadAll(r); err != nil || !bytes.Equal(plain, a.Plain) {
			t.Errorf("%s is packed wrongly: %v", name, err)
		}
	}
	if all > 30_000 {
		t.Errorf("a page has %d bytes", all)
	}
	if bytes.Contains(page, []byte("style=")) || inline.Match(page) || bytes.Contains(page, []byte("<script>")) {
		t.Error("the page has something inline")
	}
}
