package sim

// Part is a piece of hardware in the building, here or in a package below. It
// embeds Faults.
type Part interface {
	// Subjects are the sub-devices that the part is, beside its device.
	Subjects() []string
	// Verbs are what the part itself obeys under a subject.
	Verbs(subject string) []Verb
	// State says in a few words how the part is.
	State() string
	// Attach wires the part into the world.
	Attach(w *World) error
	// FaultVerbs are what the part obeys under every subject.
	FaultVerbs() []Verb

	// The rest is what only Faults has.
	bind(w *World)
	wrong() string
}

// Verb is something that the outside world does to a part.
type Verb struct {
	Name string // "jam", or in angle brackets what is to be filled in: "<celsius>"
	Args int    // how many words follow
	Do   func(args []string) (string, error)
}

// Always returns a verb that cannot fail.
func Always(name, answer string, do func()) Verb {
	return Verb{Name: name, Do: func([]string) (string, error) {
		do()
		return answer, nil
	}}
}
