package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"roomgate/agent"
	"roomgate/agent/access"
	"roomgate/agent/auth"
	"roomgate/agent/backup"
	"roomgate/agent/errand"
	"roomgate/agent/eventwords"
	"roomgate/agent/goldentest"
	"roomgate/agent/problem"
	"roomgate/agent/update"
)

// errands are those of a building: a backup as the gateway makes it, a support bundle that
// takes a minute, and updates if it takes any.
func (b *building) errands() errand.Means {
	return errand.Means{Folder: b.dir, Updates: b.updates,
		Backup: func(ctx context.Context, f *os.File, word string, told func(string) backup.Progress) error {
			_, err := backup.WriteSealed(ctx, f, backup.Sealing{Passphrase: word, Factor: 10, Schema: agent.Schema, Told: told,
				Write: func(ctx context.Context, w io.Writer) error {
					return b.agent.Backup(ctx, w, backup.Config{Text: []byte("gateway: {id: tests}\n")}, told("copying the database"))
				}})
			return err
		},
		Support: func(ctx context.Context, f *os.File) error {
			select {
			case <-time.After(time.Minute):
			case <-ctx.Done():
				return ctx.Err()
			}
			_, err := f.WriteString("a bundle without names")
			return err
		}}
}

// working runs the server's work while f does.
func (b *building) working(f func()) {
	ctx, cancel := context.WithCancel(b.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.server.Run(ctx) }()
	f()
	cancel()
	if err := <-ended; err != nil {
		b.t.Error(err)
	}
}

const word = "correct horse battery staple"

// TestConsoleMakesABackup: an admin of the building has one made, leaves the page, and takes
// it away. Only its passphrase opens it; the log has who began it and who took it, and no word.
func TestConsoleMakesABackup(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		b.working(func() {
			const path = "/console/made/backup"
			who, other := b.atConsole(), b.atConsole()
			for body, field := range map[string]string{`{}`: "passphrase", `{"passphrase":"short","again":"short"}`: "passphrase", `{"passphrase":"` + word + `","again":"` + word + `x"}`: "again",
				`{"passphrase":"` + word + `\n","again":"` + word + `\n"}`: "passphrase"} {
				checkProblem(t, body, b.net.do(t, "POST", path, who, body), 422, "invalid", field)
			}
			checkProblem(t, "none yet", b.net.do(t, "GET", path, who), 404, "not_found", "file")
			checkProblem(t, "nothing to end", b.net.do(t, "DELETE", path, who), 409, "not_now", "")
			checkProblem(t, "another file", b.net.do(t, "POST", "/console/made/database", who, `{}`), 404, "not_found", "file")
			if page := b.net.do(t, "GET", "/console/stream/backup", who).body; !strings.Contains(page, "No backup was ever taken away") || !strings.Contains(page, "backup-word") {
				t.Errorf("before: %s", page)
			}
			if got := b.net.do(t, "POST", path, who, `{"passphrase":"`+word+`","again":"`+word+`"}`); got.StatusCode != 204 {
				t.Fatalf("begin: %d %s", got.StatusCode, got.body)
			}
			for i := 0; i < 100 && !strings.Contains(b.net.do(t, "GET", "/console/stream/backup", other).body, "Ready: "); i++ {
				time.Sleep(time.Second)
			}
			got := b.net.do(t, "GET", path, other)
			goldentest.Values(t, "taken", goldentest.Pairs{"StatusCode": {got.StatusCode, 200}, "sealed": {strings.HasPrefix(got.body, "age-encryption.org/v1\n"), true},
				"named": {strings.HasSuffix(got.Header.Get("Content-Disposition"), `.backup"`), true}, "Cache-Control": {got.Header.Get("Cache-Control"), "no-store"},
				"Content-Length": {got.Header.Get("Content-Length"), fmt.Sprint(len(got.body))}})
			opened, err := backup.Unseal(strings.NewReader(got.body), word)
			if err != nil {
				t.Fatal(err)
			}
			if o, err := backup.Read(t.Context(), opened, agent.Schema, "", func(int64, int64) {}); err != nil || !o.Has(backup.DatabaseName) || len(o.Small[backup.SecretName]) == 0 {
				t.Errorf("it has %+v: %v", o, err)
			}
			if _, err := backup.Unseal(strings.NewReader(got.body), word+"x"); err == nil {
				t.Error("another passphrase opens it")
			}
			if n, known, err := backup.ReadNote(b.dir); err != nil || !known || n.Size != int64(len(got.body)) {
				t.Errorf("doctor is told %+v %t %v", n, known, err)
			}
			page := b.net.do(t, "GET", "/console/stream/backup", who).body
			for kind, want := range map[string]int{"backupBegun": 1, "backupDownloaded": 1} {
				told := b.ask("GET", "/devices/events?event_type="+kind).body
				if strings.Count(told, `"by_id":"console-`) != want || strings.Contains(told, word) {
					t.Errorf("%s: %s", kind, told)
				}
				if changes := b.net.do(t, "GET", "/console/stream/changes", who).body; !strings.Contains(changes, eventwords.Kind(kind)) {
					t.Errorf("the log of changes has no %s", kind)
				}
			}
			if strings.Contains(b.log.String()+page, word) {
				t.Error("the passphrase is in the log or on the page")
			}
			if left, _ := filepath.Glob(filepath.Join(b.dir, "*made*")); len(left) > 0 {
				t.Errorf("in the folder lies %v", left)
			}
			s := b.stream(t, "/console/stream/backup", other)
			defer s.close()
			for block := ""; !strings.HasPrefix(block, "event: head"); {
				block = s.block()
			}
			if got := b.net.do(t, "DELETE", path, who); got.StatusCode != 204 {
				t.Errorf("discard: %d %s", got.StatusCode, got.body)
			}
			if block := s.block(); !strings.HasPrefix(block, "event: now") || strings.Contains(block, "Ready: ") {
				t.Errorf("who looks is told %s", block)
			}
			checkProblem(t, "discarded", b.net.do(t, "GET", path, who), 404, "not_found", "file")
		})
	}, roles)
}

// TestConsoleMakesASupportBundle: its making is seen while it goes on, can be stopped, ends
// with the session that has begun it, and what was made waits for half an hour.
func TestConsoleMakesASupportBundle(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		b.working(func() {
			const path = "/console/made/support-bundle"
			who, other := b.atConsole(), b.atConsole()
			begin := func(who string) {
				t.Helper()
				if got := b.net.do(t, "POST", path, who); got.StatusCode != 204 {
					t.Fatalf("begin: %d %s", got.StatusCode, got.body)
				}
				time.Sleep(10 * time.Second)
			}
			shown := func() string { return b.net.do(t, "GET", "/console/stream/support", other).body }
			begin(who)
			if page := shown(); !strings.Contains(page, "It is being made, for 10 s") || strings.Contains(page, "support-new") {
				t.Errorf("under way: %s", page)
			}
			checkProblem(t, "two at a time", b.net.do(t, "POST", path, other), 409, "not_now", "")
			if got := b.net.do(t, "DELETE", path, other); got.StatusCode != 204 {
				t.Errorf("stop: %d %s", got.StatusCode, got.body)
			}
			synctest.Wait()
			if page := shown(); !strings.Contains(page, "It was stopped") {
				t.Errorf("stopped: %s", page)
			}
			begin(who)
			b.net.do(t, "DELETE", "/console/session", who)
			synctest.Wait()
			if page := shown(); !strings.Contains(page, "signed out") {
				t.Errorf("signed out: %s", page)
			}
			begin(other)
			time.Sleep(time.Minute)
			if got := b.net.do(t, "GET", path, other); got.body != "a bundle without names" || !strings.HasSuffix(got.Header.Get("Content-Disposition"), `-support.tar.gz"`) {
				t.Errorf("taken: %d %s", got.StatusCode, got.body)
			}
			for kind, want := range map[string]int{"supportBundleBegun": 3, "supportBundleDownloaded": 1} {
				if told := b.ask("GET", "/devices/events?event_type="+kind).body; strings.Count(told, `"by_id":"console-`) != want {
					t.Errorf("%s: %s", kind, told)
				}
			}
			time.Sleep(30 * time.Minute)
			checkProblem(t, "after its time", b.net.do(t, "GET", path, other), 404, "not_found", "file")
		})
	}, roles)
}

// TestOnlyTheBuildingIsKept: nobody but an admin of the building sees these pages, begins
// anything there or takes anything away, whatever there is.
func TestOnlyTheBuildingIsKept(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		b.working(func() {
			if got := b.ask("POST", "/console/made/support-bundle"); got.StatusCode != 204 {
				t.Fatalf("begin: %d %s", got.StatusCode, got.body)
			}
			time.Sleep(2 * time.Minute)
			display, _ := b.paired(aurora, b.claim(aurora))
			_, key := b.orgKey(t, auroraOrg, "messages:write", "spaces:read", "devices:read", "events:read", "bookings:read", "webhooks:write", "rules:write")
			for name, who := range map[string]string{"org admin": b.by(t, "ann@example.com"), "operator": b.by(t, "ora@example.com"), "member": b.by(t, "eve@example.com"), "display": display, "org key": key} {
				for _, c := range [][2]string{{"GET", "stream/backup"}, {"GET", "stream/support"}, {"GET", "stream/update"}, {"POST", "made/backup"}, {"POST", "made/support-bundle"}, {"GET", "made/support-bundle"},
					{"HEAD", "made/support-bundle"}, {"DELETE", "made/support-bundle"}, {"POST", "update/bundle"}, {"POST", "update/now"}} {
					if got := b.net.do(t, c[0], "/console/"+c[1], who); got.StatusCode != 403 || strings.Contains(got.body, "a bundle without names") {
						t.Errorf("%s: %s %s: %d %s", name, c[0], c[1], got.StatusCode, got.body)
					}
				}
			}
			stranger := access.Principal{ID: "x", Kind: access.KindUser, OrganizationID: auroraOrg, Admin: true, Permissions: auth.All}
			for _, section := range []string{"backup", "support", "update"} {
				if _, err := b.server.console.Feed(section, stranger, nil); problem.As(err) == nil || problem.As(err).Code != problem.Forbidden {
					t.Errorf("%s for an org admin: %v", section, err)
				}
				if page := b.net.do(t, "GET", "/console/stream/manage", b.by(t, "ada@example.com")).body; !strings.Contains(page, "/console/"+section) {
					t.Errorf("an admin of the building is not led to %s", section)
				}
			}
			if got := b.net.do(t, "GET", "/console/made/support-bundle", b.by(t, "ada@example.com")); got.StatusCode != 200 {
				t.Errorf("an admin of the building: %d %s", got.StatusCode, got.body)
			}
			if got := b.ask("POST", "/console/made/support-bundle", "Origin: https://evil.example"); got.StatusCode != 403 {
				t.Errorf("a foreign origin: %d", got.StatusCode)
			}
		})
	}, roles)
}

// takingUpdates lets a building take releases that a key of the tests has signed.
func (b *building) takingUpdates(t *testing.T) (bundle func(version string) string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "key")
	public, err := update.NewKey(file)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := update.ParseKeys(public)
	if err != nil {
		t.Fatal(err)
	}
	private, err := update.ReadKey(file)
	if err != nil {
		t.Fatal(err)
	}
	h := b.agent.Health
	b.updates = update.NewRunner(update.New(b.dir, "1.4.0", agent.Schema, keys), update.Gateway{Ready: h.Ready, Progress: h.Progress, Note: h.NoteGateway,
		Busy: func() string { return "a meeting is under way" }, Online: func() bool { return true }, URL: func() string { return "" }}, update.PaceOf(time.Minute), slog.New(slog.DiscardHandler), func() {})
	return func(version string) string {
		var out bytes.Buffer
		m := update.Manifest{Version: version, OS: runtime.GOOS, Arch: runtime.GOARCH, Schema: agent.Schema, Created: time.Now()}
		if err := update.Write(&out, m, []byte("#!/bin/sh\n"), private); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
}

// TestConsoleUpdates: an admin brings a bundle, sees it wait, and has it tried at once. One
// that is refused changes nothing and says why; both are in the log with who brought them.
func TestConsoleUpdates(t *testing.T) {
	inBuilding(t, func(t *testing.T, b *building) {
		const path, raw = "/console/update/bundle", "Content-Type: application/octet-stream"
		who := b.atConsole()
		if page := b.net.do(t, "GET", "/console/stream/update", who).body; !strings.Contains(page, "A demo takes no updates") {
			t.Errorf("without updates: %s", page)
		}
		checkProblem(t, "takes none", b.net.do(t, "POST", path, who, raw, "x"), 409, "not_now", "")
		bundle := b.takingUpdates(t)
		b.server.pages = b.serverOf().pages
		checkProblem(t, "none waits", b.net.do(t, "POST", "/console/update/now", who, `{}`), 409, "not_now", "")
		checkProblem(t, "no bundle", b.net.do(t, "POST", path, who, raw, "no bundle"), 422, "invalid", "")
		checkProblem(t, "another type", b.net.do(t, "POST", path, who, `{}`), 415, "unsupported_media_type", "Content-Type")
		checkProblem(t, "old", b.net.do(t, "POST", path, who, raw, bundle("1.3.0")), 422, "invalid", "")
		checkProblem(t, "dance", b.net.do(t, "POST", "/console/update/dance", who, `{}`), 404, "not_found", "action")
		got := b.net.do(t, "POST", path, who, raw, bundle("1.5.0"))
		var said struct{ Version string }
		if err := json.Unmarshal([]byte(got.body), &said); err != nil || got.StatusCode != 200 || said.Version != "1.5.0" {
			t.Fatalf("installed: %d %s", got.StatusCode, got.body)
		}
		if page := b.net.do(t, "GET", "/console/stream/update", who).body; !strings.Contains(page, "1.5.0 is installed and waits: a meeting is under way") || !strings.Contains(page, `id="try"`) {
			t.Errorf("it waits: %s", page)
		}
		if page := b.net.do(t, "GET", "/console/stream/overview", who).body; !strings.Contains(page, "1.5.0 waits: a meeting is under way") {
			t.Errorf("the overview: %s", page)
		}
		if got := b.net.do(t, "POST", "/console/update/now", who, `{}`); got.StatusCode != 200 {
			t.Errorf("now: %d %s", got.StatusCode, got.body)
		}
		for kind, want := range map[string]int{"updateBrought": 3, "updateHurried": 1} {
			if told := b.ask("GET", "/devices/events?event_type="+kind).body; strings.Count(told, `"by_id":"console-`) != want {
				t.Errorf("%s: %s", kind, told)
			}
		}
	}, roles)
}
