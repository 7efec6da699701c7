package update

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
)

// signedFile lies beside the binary of a release: the Ed25519 signature, and behind
// it the bytes of the manifest that it covers. Both are one file, so that a power
// cut leaves both as they were or both as they are.
const signedFile = "manifest.signed"

const maxSigned = ed25519.SignatureSize + maxManifest // bytes

// manifest returns what was signed of the release in a folder. Nothing but the keys
// is believed: the folder is of the user that the gateway runs as.
func (r *Releases) manifest(version string) (m Manifest, err error) {
	text, err := readSmall(filepath.Join(r.Dir, version, signedFile), maxSigned)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return m, errors.New("no signature is kept beside it")
	case err != nil:
		return m, err
	case len(text) < ed25519.SignatureSize || !signed(text[ed25519.SignatureSize:], text[:ed25519.SignatureSize], r.Keys):
		return m, errors.New("it is signed by none of the keys that this gateway trusts")
	}
	if m, err = readManifest(text[ed25519.SignatureSize:]); err != nil {
		return m, err
	}
	if m.Version != version {
		return m, refuse(Corrupt, "what was signed in its folder is %s", m.Version)
	}
	return m, m.fits()
}

// fits refuses what is for another machine.
func (m Manifest) fits() error {
	if m.OS != runtime.GOOS || m.Arch != runtime.GOARCH {
		return refuse(OtherMachine, "the bundle is for %.20s/%.20s and this is %s/%s: get the one for this machine", m.OS, m.Arch, runtime.GOOS, runtime.GOARCH)
	}
	return nil
}

// release is what the manifest says, for the state.
func (m Manifest) release() Release { return Release{m.Version, m.Schema, m.Size, m.SHA256} }

// hasSignature says whether the signature of a bundle is the one that is kept.
func (r *Releases) hasSignature(b *Bundle) bool {
	kept, err := readSmall(filepath.Join(r.Dir, b.Version, signedFile), maxSigned)
	return err == nil && bytes.Equal(kept, b.signed)
}

// sign keeps the signature of a bundle beside a release that is here already, as of a
// gateway that did not keep it, or by another key.
func (r *Releases) sign(b *Bundle) error {
	return writeWhole(r.disk, filepath.Join(r.Dir, b.Version, signedFile), b.signed)
}
