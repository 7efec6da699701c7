package console

import (
	"regexp"
	"strings"
)

// remedies are what the doctor tells somebody to type where the console has a page, and
// what one does there.
var remedies = []struct {
	typed   *regexp.Regexp
	instead string
	page    Section
}{
	{regexp.MustCompile(`(sudo )?roomgate backup( --\S+ [^ ,]+)* FILE, and keep`), "make one on the page Backup, and keep", backups()},
	{regexp.MustCompile(`with (sudo )?roomgate backup( --\S+ [^ ,]+)*`), "on the page Backup", backups()},
	{regexp.MustCompile(`open the link that (sudo )?roomgate space pair .* --qr prints in the browser of the display`), "pair its screen on the page Displays", displays()},
	{regexp.MustCompile(`run (sudo )?roomgate webhook deliveries( --\S+ [^ ,]+)* \S+, and`), "see its deliveries on the page Webhooks, and", webhooks()},
	{regexp.MustCompile(`run (sudo )?roomgate events( --\S+ [^ ,]+)*`), "see the page Events", events()},
	{regexp.MustCompile(`with (sudo )?roomgate update( --\S+ [^ ,]+)* (--again )?BUNDLE`), "on the page Update", updates()},
	{regexp.MustCompile(`bring it on a stick: (sudo )?roomgate update( --\S+ [^ ,]+)* BUNDLE`), "install it on the page Update", updates()},
	{regexp.MustCompile(`(: )?(sudo )?roomgate update( --\S+ [^ ,]+)* BUNDLE`), ", on the page Update", updates()},
	{regexp.MustCompile(`(sudo )?roomgate update( --\S+ [^ ,]+)* --now`), "try it on the page Update", updates()},
}

// remedied is a finding that says what to do in the console where that can be done here.
func remedied(f Finding) Finding {
	for _, r := range remedies {
		if r.typed.MatchString(f.Fix) {
			f.Fix = strings.TrimPrefix(r.typed.ReplaceAllString(f.Fix, r.instead), ", ")
			f.To, f.Page = "/console/"+r.page.Name, r.page.Title
			return f
		}
	}
	return f
}
