package update

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"runtime/metrics"
	"strings"
	"testing"
)

// member is one of a bundle that is put together by hand.
type member struct {
	name string
	data []byte
}

// pack makes the archive of members, with what follows inside and behind it.
func pack(t *testing.T, members []member, inside, behind string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, m := range members {
		must(t, w.WriteHeader(&tar.Header{Name: m.name, Mode: 0o644, Size: int64(len(m.data))}))
		_, err := w.Write(m.data)
		must(t, err)
	}
	must(t, w.Close())
	_, err := z.Write([]byte(inside))
	must(t, errors.Join(err, z.Close()))
	return append(b.Bytes(), behind...)
}

// signedMembers are those of a good bundle with a changed manifest.
func signedMembers(t *testing.T, change func(m map[string]any)) []member {
	t.Helper()
	binary := binaryOf("1.1.0")
	m := manifestOf("1.1.0")
	m.Format, m.Size, m.SHA256 = Format, int64(len(binary)), sumOf(binary)
	raw, err := json.Marshal(m)
	must(t, err)
	fields := map[string]any{}
	must(t, json.Unmarshal(raw, &fields))
	change(fields)
	raw, err = json.Marshal(fields)
	must(t, err)
	return []member{{manifestName, raw}, {signatureName, ed25519.Sign(vendor, raw)}, {binaryName, binary}}
}

func set(name string, v any) func(map[string]any) { return func(m map[string]any) { m[name] = v } }

func read(bundle []byte, keys []ed25519.PublicKey) error {
	b, err := Open(bytes.NewReader(bundle), keys)
	if err != nil {
		return err
	}
	return b.Unpack(io.Discard)
}

func TestBundle(t *testing.T) {
	data := bundle(t, "v1.1.0")
	if !bytes.Equal(data, bundle(t, "v1.1.0")) {
		t.Error("the same input makes other bytes")
	}
	b, err := Open(bytes.NewReader(data), vendorKeys())
	must(t, err)
	var out bytes.Buffer
	must(t, b.Unpack(&out))
	if b.Version != "1.1.0" || !bytes.Equal(out.Bytes(), binaryOf("1.1.0")) {
		t.Errorf("got %s with %d bytes", b.Version, out.Len())
	}
	must(t, read(pack(t, signedMembers(t, func(map[string]any) {}), "", ""), vendorKeys()))
}

func TestBundleIsRefused(t *testing.T) {
	good := func() []member { return signedMembers(t, func(map[string]any) {}) }
	with := func(i int, m member) []member { all := good(); all[i] = m; return all }
	other := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{8}, ed25519.SeedSize)).Public().(ed25519.PublicKey)
	whole := bundle(t, "1.1.0")
	flipped := bytes.Clone(whole)
	flipped[len(flipped)/2] ^= 4
	changed := binaryOf("1.1.0")
	changed[77] ^= 1
	for _, c := range []struct {
		name, want string
		bundle     []byte
		keys       []ed25519.PublicKey
	}{
		{"no keys", "knows no key", whole, nil},
		{"another key", "signed by none", whole, []ed25519.PublicKey{other}},
		{"nothing", "ends too early", nil, vendorKeys()},
		{"no bundle", "is no update bundle", []byte("hello, this is a text and not a bundle"), vendorKeys()},
		{"half", "ends too early", whole[:len(whole)/2], vendorKeys()},
		{"without its end", "ends too early", whole[:len(whole)-4], vendorKeys()},
		{"a flipped bit", "damaged|not the one that was signed", flipped, vendorKeys()},
		{"another binary", "not the one that was signed", pack(t, with(2, member{binaryName, changed}), "", ""), vendorKeys()},
		{"a longer binary", "bytes and its manifest says", pack(t, with(2, member{binaryName, append(binaryOf("1.1.0"), 0)}), "", ""), vendorKeys()},
		{"another signature", "signed by none", pack(t, with(1, member{signatureName, make([]byte, 64)}), "", ""), vendorKeys()},
		{"a short signature", "signed by none", pack(t, with(1, member{signatureName, []byte("x")}), "", ""), vendorKeys()},
		{"a long signature", "want at most 64", pack(t, with(1, member{signatureName, make([]byte, 65)}), "", ""), vendorKeys()},
		{"a huge manifest", "want at most 4096", pack(t, with(0, member{manifestName, make([]byte, 4097)}), "", ""), vendorKeys()},
		{"another order", "where manifest.json belongs", pack(t, []member{good()[2], good()[0], good()[1]}, "", ""), vendorKeys()},
		{"an unknown member", "more members", pack(t, append(good(), member{"more", nil}), "", ""), vendorKeys()},
		{"a member in between", "where roomgate belongs", pack(t, with(2, member{"../roomgate", nil}), "", ""), vendorKeys()},
		{"no binary", "ends too early", pack(t, good()[:2], "", ""), vendorKeys()},
		{"something inside", "follows the last member", pack(t, good(), "x", ""), vendorKeys()},
		{"endless zeros", "follows the last member", pack(t, good(), strings.Repeat("\x00", 70<<10), ""), vendorKeys()},
		{"something behind", "follows the bundle", pack(t, good(), "", "x"), vendorKeys()},
		{"two bundles", "follows the bundle", append(bytes.Clone(whole), whole...), vendorKeys()},
		{"an unknown field", "cannot be read", pack(t, signedMembers(t, set("more", 1)), "", ""), vendorKeys()},
		{"another format", "reads roomgate-update-1", pack(t, signedMembers(t, set("format", "x")), "", ""), vendorKeys()},
		{"no version", "version", pack(t, signedMembers(t, set("version", "new")), "", ""), vendorKeys()},
		{"a version that leads elsewhere", "version", pack(t, signedMembers(t, set("version", "1.0.0-../../x")), "", ""), vendorKeys()},
		{"no checksum", "sha256", pack(t, signedMembers(t, set("sha256", "x")), "", ""), vendorKeys()},
		{"too large", "size", pack(t, signedMembers(t, set("size", MaxBinary+1)), "", ""), vendorKeys()},
		{"no schema", "schema", pack(t, signedMembers(t, set("schema", 0)), "", ""), vendorKeys()},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := read(c.bundle, c.keys)
			if !errors.As(err, new(*Refused)) || !containsAny(err.Error(), c.want) {
				t.Errorf("got %v, want a refusal with %q", err, c.want)
			}
		})
	}
}

func containsAny(text, choices string) bool {
	for c := range strings.SplitSeq(choices, "|") {
		if strings.Contains(text, c) {
			return true
		}
	}
	return false
}

// Whoever holds the gateway's disk or its cloud can send any bytes. They take no
// memory for a size that they only say.
func FuzzBundle(f *testing.F) {
	var b bytes.Buffer
	if err := Write(&b, manifestOf("1.1.0"), []byte("program"), vendor); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add(b.Bytes()[:b.Len()-9])
	keys := vendorKeys()
	f.Fuzz(func(t *testing.T, data []byte) {
		var opened *Bundle
		var err error
		if took := allocated(func() { opened, err = Open(bytes.NewReader(data), keys) }); took > uint64(16*len(data)+4<<20) {
			t.Errorf("%d bytes take %d of memory", len(data), took)
		}
		if err != nil {
			return
		}
		var out bytes.Buffer
		if opened.Unpack(&out) == nil && out.String() != "program" {
			t.Fatalf("%q was unpacked and never signed", out.String())
		}
	})
}

func TestKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	public, err := NewKey(path)
	must(t, err)
	if _, err := NewKey(path); err == nil {
		t.Error("a key was written over another")
	}
	private, err := ReadKey(path)
	must(t, err)
	keys, err := ParseKeys("", public+" , "+public)
	must(t, err)
	if len(keys) != 2 || !keys[1].Equal(private.Public()) {
		t.Errorf("got %v", keys)
	}
	if _, err := ParseKeys("c2hvcnQ="); err == nil || !strings.Contains(err.Error(), "public key") {
		t.Errorf("a short key: %v", err)
	}
}

func TestCompare(t *testing.T) {
	ascending := []string{"dev", "0.9.9", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta.2", "1.0.0-beta.11",
		"v1.0.0-rc.1", "1.0.0", "v1.0.1", "1.2.0", "1.10.0", "2.0.0"}
	for i, a := range ascending {
		for j, b := range ascending {
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if got := Compare(a, b); got != want {
				t.Errorf("%s and %s: %d", a, b, got)
			}
		}
	}
	if Compare("v1.2.0-3-gabcdef0-dirty", "1.2.0") != 0 || Compare("abcdef0", "dev") != 0 {
		t.Error("builds between tags")
	}
	for _, bad := range []string{"", "1", "1.2", "1.2.3.4", "01.2.3", "1.2.3+x", "1.2.3-", "1.2.3-a/b", "1.2.3-..", "1.2.3\n", strings.Repeat("1", 70)} {
		if Canonical(bad) != "" {
			t.Errorf("%q is a version", bad)
		}
	}
}

// allocated is how much memory f asks for, in bytes.
func allocated(f func()) uint64 {
	count := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(count)
	before := count[0].Value.Uint64()
	f()
	metrics.Read(count)
	return count[0].Value.Uint64() - before
}
