// Package patch lays what was given over what there is. A nil pointer gives
// nothing.
package patch

// Set sets a field to what was given.
func Set[T any](field, given *T) {
	if given != nil {
		*field = *given
	}
}

// Keep keeps in a field what was given, for somebody to Set later.
func Keep[T any](field **T, given *T) {
	if given != nil {
		*field = given
	}
}
