package doctor

import (
	"cmp"
	"regexp"
	"strings"
)

// typed makes fixes what those who read them type. They are written for somebody who has
// sudo, with it before each command that takes root. A demo takes none, and neither
// does who is root already or has no sudo. They are written for the gateway of the package,
// and name another one's files by the flags with which it was asked for.
func typed(x *examination, found []Finding) []Finding {
	for i := range found {
		f := &found[i]
		f.Fix = flagged(f.Fix, withConfig, x.ConfigFlag)
		f.Fix = flagged(f.Fix, withEither, cmp.Or(x.ConfigFlag, x.DataFlag))
		f.Fix = flagged(f.Fix, withData, x.DataFlag)
		if !x.Sudo || x.simulated() {
			f.Fix = strings.ReplaceAll(f.Fix, "sudo ", "")
		}
	}
	return found
}

// The commands that find a gateway by its configuration, by that or its data folder, and by its
// data folder alone.
var (
	withConfig = regexp.MustCompile(`roomgate (setup|check-config)\b`)
	withEither = regexp.MustCompile(`roomgate (doctor|store (list|read|confirm)|tls (init|status)|backup|restore)\b`)
	withData   = regexp.MustCompile(`roomgate (claim( --release)?|clock confirm|space pair|webhook deliveries|events|device (identify|accept)|update)\b`)
)

// flagged puts a flag behind each command, unless it is there or the command names the file itself.
func flagged(text string, commands *regexp.Regexp, flag string) string {
	if flag == "" {
		return text
	}
	_, file, _ := strings.Cut(strings.TrimSpace(flag), " ")
	var b strings.Builder
	from := 0
	for _, at := range commands.FindAllStringIndex(text, -1) {
		b.WriteString(text[from:at[1]])
		if rest := text[at[1]:]; !strings.HasPrefix(rest, flag) && !strings.HasPrefix(rest, " "+file) {
			b.WriteString(flag)
		}
		from = at[1]
	}
	return b.String() + text[from:]
}

// asRoot is what to do about a file that who asks may not read: the same with the rights of root.
func asRoot(x *examination) string {
	if x.Sudo || x.IsRoot {
		return "run sudo roomgate doctor, for only root and the gateway may read it"
	}
	return "become root with su - and run sudo roomgate doctor there, for only root and the gateway may read it"
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

// typedInto is the file of a password with what writes it, also on a machine without an editor.
func typedInto(x *examination, file string) string {
	if with := opened(x, file); with != file {
		return with
	}
	return file + " (sudo tee " + file + ": type it, then return, then control and D)"
}
