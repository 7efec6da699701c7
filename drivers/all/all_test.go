package all

import (
	"errors"
	"slices"
	"testing"

	"roomgate/drivers"
)

// Every device type has a driver, every driver a name of its own, and options
// that are not filled in are refused by the name of a field.
func TestAll(t *testing.T) {
	var types, names []string
	for _, k := range All() {
		if k.Name == "" || k.Summary == "" || slices.Contains(names, k.Name) {
			t.Errorf("driver %q (%s): its name or summary is missing or taken", k.Name, k.Summary)
		}
		types, names = append(types, k.Type), append(names, k.Name)
		var field *drivers.FieldError
		if err := k.Options().Check(); !errors.As(err, &field) {
			t.Errorf("%s: empty options give %v, want a *drivers.FieldError", k.Name, err)
		}
	}
	for _, want := range drivers.Types() {
		if !slices.Contains(types, want) {
			t.Errorf("no driver is of type %s", want)
		}
	}
}
