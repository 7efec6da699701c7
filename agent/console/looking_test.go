package console

import (
	"fmt"
	"testing"
	"testing/synctest"

	"roomgate/agent/access"
	"roomgate/agent/problem"
)

// TestLookingIsShared: neither many credentials of one organization nor many pages of one
// credential keep others from following a page; whoever has most makes room. The building's
// admins have places of their own.
func TestLookingIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, lost := New(Options{}), map[string]int{}
		enter := func(organization, id string) bool {
			t.Helper()
			who := access.Principal{Kind: access.KindOrganization, ID: id, OrganizationID: organization, Admin: organization == ""}
			_, err := c.Enter(who, func() { lost[id]++ })
			if err != nil && problem.As(err).Code != problem.Busy {
				t.Fatal(err)
			}
			synctest.Wait()
			return err == nil
		}
		for i := range maxVisiting {
			if !enter("eve", fmt.Sprint("key ", i/10)) {
				t.Fatalf("no place for page %d", i)
			}
		}
		if enter("eve", "key 0") {
			t.Error("there are more than the most")
		}
		for i, id := range []string{"colleague", "ada"} {
			organization := []string{"eve", "acme"}[i]
			if !enter(organization, id) || lost["key 0"] != i+1 {
				t.Errorf("%s comes, and makes room: %v", id, lost)
			}
		}
		for i := range maxLooking {
			if !enter("", "admin") {
				t.Errorf("the building's admin has no place %d", i)
			}
		}
		if enter("", "admin") || !enter("", "another admin") || lost["admin"] != 1 {
			t.Errorf("the building's admins do not share: %v", lost)
		}
	})
}

// TestLookingLeaves: whoever leaves makes a place, once.
func TestLookingLeaves(t *testing.T) {
	c := New(Options{})
	eve := access.Principal{Kind: access.KindUser, ID: "eve", OrganizationID: "acme"}
	none := func() { t.Error("somebody makes room") }
	first, err := c.Enter(eve, none)
	for range maxVisiting - 1 {
		if _, next := c.Enter(eve, none); next != nil {
			err = next
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	first.Leave()
	first.Leave()
	if _, err := c.Enter(eve, none); err != nil {
		t.Error("nobody takes the place that is left")
	}
	if _, err := c.Enter(eve, none); err == nil {
		t.Error("a place was given back twice")
	}
}
