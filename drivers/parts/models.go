package parts

// Model is a thermometer that the hub knows, and the addresses that it may
// have, the first being the usual one.
type Model struct {
	Name        string
	First, Last uint16
}

// Models are all of them.
func Models() (all []Model) {
	for _, m := range models() {
		all = append(all, Model{m.name, m.first, m.last})
	}
	return all
}
