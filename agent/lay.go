package agent

// lay puts what was set over a field; nil: nothing was.
func lay[T any](field, set *T) {
	if set != nil {
		*field = *set
	}
}

// keep makes what is set now the one that was set; nil: nothing is.
func keep[T any](field **T, set *T) {
	if set != nil {
		*field = set
	}
}
