package site

import (
	"slices"
	"strings"
	"testing"

	"roomgate/agent/access"
	"roomgate/agent/problem"
)

// A space belongs to the organization that it names, else to the one that has
// claimed the gateway, else to nobody.
func TestOrganizationOfASpace(t *testing.T) {
	t.Parallel()
	const claimer = "5f0c6a0e-1d6c-4b59-8f0e-2d9a3b7c1ec1"
	r := openRig(t, rigOptions{yaml: strings.Replace(planned, "name: Borealis", "name: Borealis, organization_id: "+org, 1)})
	if o, err := r.OrganizationOf(room); o != "" || err != nil {
		t.Errorf("a space of nobody is of %q, %v", o, err)
	}
	if seen := r.SpacesSeen(access.Principal{OrganizationID: org}); !slices.Equal(seen, []string{otherRoom}) {
		t.Errorf("before the claim one sees %v", seen)
	}
	r.claimed = claimer
	for space, want := range map[string]string{room: claimer, otherRoom: org} {
		if o, err := r.OrganizationOf(space); o != want || err != nil {
			t.Errorf("%s is of %q, %v, want %q", space, o, err, want)
		}
		if seen := r.SpacesSeen(access.Principal{OrganizationID: want}); !slices.Equal(seen, []string{space}) {
			t.Errorf("%s sees %v", want, seen)
		}
	}
	if seen := r.SpacesSeen(access.Principal{}); seen != nil {
		t.Errorf("somebody of no organization sees %v, want the whole building", seen)
	}
	_, err := r.OrganizationOf("nowhere")
	r.refuses("no such space", problem.NotFound, "meeting_space_id", err)
}
