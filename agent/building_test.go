package agent

import "testing"

func TestASpaceOfNobody(t *testing.T) {
	r := openRig(t, rigOptions{})
	defer r.Close()
	if o, err := r.OrganizationOf(room); o != "" || err != nil {
		t.Errorf("a space of nobody is of %q, %v", o, err)
	}
}
