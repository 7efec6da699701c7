package sim

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Control moves the world from outside: the subject is a device type or a
// sub-device in a space, the first argument what happens to it, as in
// ("aurora", "lock", "jam") or ("aurora", "temperature", "31.5"). Without
// arguments it says how the subject is. A fault hits every part of a device.
// An error lists what would have been known.
func (w *World) Control(space, subject string, args ...string) (string, error) {
	parts, err := w.lookUp(space, subject)
	if err != nil {
		return "", err
	}
	if len(args) == 0 {
		return subject + ": " + states(parts), nil
	}
	var known []string
	var answer string
	for _, p := range parts {
		for _, v := range append(p.part.Verbs(strings.ToLower(subject)), p.part.FaultVerbs()...) {
			known = append(known, v.Name)
			words, ok := v.match(args)
			if !ok {
				continue
			}
			if answer, err = v.Do(words); err != nil {
				return "", err
			}
			break
		}
	}
	if answer == "" {
		return "", fmt.Errorf("%s does not know %q: want one of %s",
			subject, strings.Join(args, " "), list(known))
	}
	return subject + ": " + answer, nil
}

// Movable lists what Control knows, a line for each subject of each space, sorted.
func (w *World) Movable() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	verbs := map[string][]string{}
	for _, e := range w.parts {
		for _, subject := range append([]string{e.device}, e.part.Subjects()...) {
			line := e.space + " " + subject
			for _, v := range append(e.part.Verbs(subject), e.part.FaultVerbs()...) {
				verbs[line] = append(verbs[line], v.Name)
			}
		}
	}
	var lines []string
	for _, line := range slices.Sorted(maps.Keys(verbs)) {
		lines = append(lines, line+": "+list(verbs[line]))
	}
	return lines
}

// match says whether the arguments are this verb, and returns what it takes.
func (v Verb) match(args []string) (words []string, ok bool) {
	if strings.HasPrefix(v.Name, "<") {
		return args, len(args) == 1+v.Args && !isFault(args[0])
	}
	return args[1:], v.Name == strings.ToLower(args[0]) && len(args) == 1+v.Args
}

// isFault says whether a word is a fault and so never a value.
func isFault(word string) bool {
	return slices.ContainsFunc((&Faults{}).FaultVerbs(), func(v Verb) bool { return v.Name == word })
}

// lookUp finds the parts that are the subject.
func (w *World) lookUp(space, subject string) ([]entry, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	space, subject = strings.ToLower(space), strings.ToLower(subject)
	if name, ok := w.aliases[space]; ok {
		space = name
	}
	var found []entry
	var spaces, subjects []string
	for _, e := range w.parts {
		spaces = append(spaces, e.space)
		if e.space != space {
			continue
		}
		names := append([]string{e.device}, e.part.Subjects()...)
		subjects = append(subjects, names...)
		if slices.Contains(names, subject) {
			found = append(found, e)
		}
	}
	switch {
	case len(subjects) == 0:
		return nil, fmt.Errorf("no space %q in the simulated world: want one of %s", space, list(spaces))
	case len(found) == 0:
		return nil, fmt.Errorf("no %q in %s: want one of %s", subject, space, list(subjects))
	}
	return found, nil
}

func states(parts []entry) string {
	all := make([]string, len(parts))
	for i, p := range parts {
		all[i] = p.part.State()
		if wrong := p.part.wrong(); wrong != "" {
			all[i] += " (" + wrong + ")"
		}
	}
	return strings.Join(all, ", ")
}

// list writes names without repetition, sorted.
func list(names []string) string {
	set := map[string]bool{}
	for _, n := range names {
		set[n] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(set)), ", ")
}
