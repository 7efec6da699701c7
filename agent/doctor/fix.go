package doctor

import "strings"

// typed makes fixes what those who read them type. They are written for somebody who has
// sudo, with it before each command that takes root. A demo takes none, and neither
// does who is root already or has no sudo.
func typed(x *examination, found []Finding) []Finding {
	if x.Sudo && !x.simulated() {
		return found
	}
	for i := range found {
		found[i].Fix = strings.ReplaceAll(found[i].Fix, "sudo ", "")
	}
	return found
}

// bootLine is where a line for the firmware of a Raspberry Pi goes.
func bootLine(x *examination, line string) string {
	for _, file := range []string{"boot/firmware/config.txt", "boot/config.txt"} { // before Bookworm the second
		if _, ok := x.exists(file); ok {
			return line + " on a line of its own in /" + file + ", then start this machine again"
		}
	}
	return "on a Raspberry Pi " + line + " in config.txt"
}

// opened is a file with the command that opens it, if this machine has an editor.
func opened(x *examination, file string) string {
	for _, editor := range []string{"nano", "vi"} {
		if _, ok := x.exists("usr/bin/" + editor); ok {
			return file + " (sudo " + editor + " " + file + ")"
		}
	}
	return file
}
