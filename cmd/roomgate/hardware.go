package main

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
)

// hardwareID names the machine below root: by the serial number that its board
// has, or else by the machine id of its system, which a copied card brings
// along. Neither can be read from the name. Empty: it has neither.
func hardwareID(root string) string {
	for _, s := range []struct{ kind, file string }{
		{"serial", "sys/firmware/devicetree/base/serial-number"}, // the service does not see /proc/device-tree
		{"serial", "proc/device-tree/serial-number"},
		{"machine", "etc/machine-id"},
	} {
		raw, err := os.ReadFile(filepath.Join(root, s.file))
		name := strings.Trim(string(raw), "\x00 \n\t")
		if err != nil || strings.Trim(name, "0") == "" || name == "uninitialized" {
			continue
		}
		sum := sha256.Sum256([]byte("roomgate hardware\x00" + s.kind + "\x00" + name))
		return hex.EncodeToString(sum[:])
	}
	return ""
}
