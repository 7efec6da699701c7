package sim

// Part is a piece of hardware in the building.
type Part interface {
	// subjects are the sub-devices that the part is, beside its device.
	subjects() []string
	// verbs are what the part itself obeys under a subject.
	verbs(subject string) []verb
	// state says in a few words how the part is.
	state() string
	// attach wires the part into the world.
	attach(w *World) error

	// The rest is what every part has by embedding faults.
	bind(w *World)
	faultVerbs() []verb
	wrong() string
}

// verb is something that the outside world does to a part.
type verb struct {
	name string // "jam", or in angle brackets what is to be filled in: "<celsius>"
	args int    // how many words follow
	do   func(args []string) (string, error)
}

// always is a verb that cannot fail.
func always(name, answer string, do func()) verb {
	return verb{name: name, do: func([]string) (string, error) {
		do()
		return answer, nil
	}}
}
