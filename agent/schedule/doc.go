// Package schedule is what is booked in the meeting spaces of a building, step
// by step. A [Book] has a [Room] for each meeting space. It is the one that
// changes a room: for people, for the cloud, for a calendar that the space
// follows, and when the time for a step has come. Whatever changes is stored
// with its event in one transaction, and only then shown.
//
// Readers take no lock. A change of a room needs its turn.
package schedule
