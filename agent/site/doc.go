// Package site is the meeting spaces and devices of the building: which there are,
// and how that changes while the building runs.
//
// Readers see an [Index], which is replaced whole and never changed. Over
// the spaces and devices of the configuration file lie overrides, which people in
// the building or the cloud have made at run time. A caller that changes the site
// takes the [Turn], has a [Change] checked, and commits it as a stage, alone or
// together with the stages of other nouns.
package site
