package config

import (
	"os"
	"path/filepath"
	"strings"
)

// credentials begins a path to a file that systemd hands to the service
// (systemd.exec(5), LoadCredential=). Only the service has the variable.
const credentials = "${CREDENTIALS_DIRECTORY}/"

// IsCredential says whether a path leads to what only the service sees.
func IsCredential(path string) bool {
	return strings.HasPrefix(path, credentials) || strings.HasPrefix(path, "/run/credentials/")
}

// CredentialSource is the file that systemd reads such a path from, as
// systemd/roomgate.service says: it hands over the files of one folder as
// secret_NAME. Empty: it comes from elsewhere.
func CredentialSource(path string) string {
	name, ok := strings.CutPrefix(filepath.Base(path), "secret_")
	if !ok || !IsCredential(path) {
		return ""
	}
	return "/etc/roomgate/credentials/" + name
}

// fromCredentials is a text with the folder of the service's credentials put in
// where it begins with its name. Elsewhere, as for somebody who checks the file,
// it stays as it stands: what is read from it then fails, and names it.
func fromCredentials(text string) string {
	name, ok := strings.CutPrefix(text, credentials)
	if dir := os.Getenv("CREDENTIALS_DIRECTORY"); ok && dir != "" {
		return dir + "/" + name
	}
	return text
}
