package console

import "testing"

// TestWhatTheConsoleCanDoIsDoneThere: who looks at the console has no terminal.
func TestWhatTheConsoleCanDoIsDoneThere(t *testing.T) {
	for fix, want := range map[string][2]string{
		"sudo roomgate backup FILE, and keep the file and its passphrase elsewhere":                                 {"make one on the page Backup, and keep the file and its passphrase elsewhere", "/console/backup"},
		"take a backup with sudo roomgate backup --data /srv/data, then replace the card":                           {"take a backup on the page Backup, then replace the card", "/console/backup"},
		"open the link that roomgate space pair 'Big Atlas' --qr prints in the browser of the display, at http://a": {"pair its screen on the page Displays, at http://a", "/console/displays"},
		"run sudo roomgate webhook deliveries 01M8, and ask the people who run the receiver":                        {"see its deliveries on the page Webhooks, and ask the people who run the receiver", "/console/webhooks"},
		"raise store.flush, and run sudo roomgate events for a device that never rests":                             {"raise store.flush, and see the page Events for a device that never rests", "/console/events"},
		"install a release again with sudo roomgate update BUNDLE: that writes the note again":                      {"install a release again on the page Update: that writes the note again", "/console/update"},
		"install its bundle once more, signed with a key: sudo roomgate update --data /srv BUNDLE":                  {"install its bundle once more, signed with a key, on the page Update", "/console/update"},
		"let https to that address pass, or bring the bundle on a stick: sudo roomgate update BUNDLE":               {"let https to that address pass, or bring the bundle on a stick, on the page Update", "/console/update"},
		"mend what it failed for and try it again with sudo roomgate update --again BUNDLE":                         {"mend what it failed for and try it again on the page Update", "/console/update"},
		"it has waited for 3 days: if nobody is disturbed, sudo roomgate update --now":                              {"it has waited for 3 days: if nobody is disturbed, try it on the page Update", "/console/update"},
		"fit a battery, then sudo systemctl restart roomgate":                                                       {"fit a battery, then sudo systemctl restart roomgate", ""},
	} {
		if f := remedied(Finding{Fix: fix}); f.Fix != want[0] || f.To != want[1] {
			t.Errorf("%q became %q, to %q", fix, f.Fix, f.To)
		}
	}
}
