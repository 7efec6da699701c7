package drivers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const password = "tiger-lily-7"

func TestSecretDoesNotShow(t *testing.T) {
	type options struct {
		Password Secret
		Others   []Secret
		Pointer  *Secret
	}
	s := Secret(password)
	o := options{s, []Secret{s}, &s}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "s", s, "o", o)
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "s", s, "o", o)
	encoded, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]string{
		"log": log.String(), "json": string(encoded), "error": fmt.Errorf("x %v %w", s, os.ErrClosed).Error(),
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		shown[verb] = fmt.Sprintf(verb, s) + fmt.Sprintf(verb, []Secret{s}) + fmt.Sprintf(verb, o)
	}
	for where, text := range shown {
		if strings.Contains(text, password) || !strings.Contains(text, "***") {
			t.Errorf("%s shows %s", where, text)
		}
	}
	if hex := fmt.Sprintf("%x", s); strings.Contains(hex, fmt.Sprintf("%x", password)) {
		t.Error("the hexadecimal verb shows the secret")
	}
}

func TestReveal(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"lf": "a b\nc\n", "crlf": "a b\r\nc", "bare": "a b", "empty": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct{ file, want string }{{"lf", "a b"}, {"crlf", "a b"}, {"bare", "a b"}, {"empty", ""}}
	for _, tt := range tests {
		if got, err := Secret("other").Reveal(filepath.Join(dir, tt.file)); got != tt.want || err != nil {
			t.Errorf("%s: %q, %v", tt.file, got, err)
		}
	}
	if got, err := Secret(password).Reveal(""); got != password || err != nil {
		t.Errorf("without a file: %q, %v", got, err)
	}
	_, err := Secret(password).Reveal(filepath.Join(dir, "none"))
	if err == nil || strings.Contains(err.Error(), password) {
		t.Errorf("a file that is not there: %v", err)
	}
}
