package console

import "time"

// Findings are what an examination of the gateway has found.
type Findings struct {
	At  time.Time // zero: it goes on
	All []Finding
}

// Finding is one of them, with what to do about it, as doctor.Finding is in JSON.
type Finding struct {
	Name  string `json:"name"`
	State string `json:"state"`
	Seen  string `json:"seen"`
	Fix   string `json:"fix"`
}
