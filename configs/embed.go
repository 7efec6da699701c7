// Package configs holds the example configuration and the demo building.
package configs

import _ "embed" // fills the variables below

// Gateway is the commented example: every key that a gateway takes.
//
//go:embed gateway.yaml
var Gateway []byte

// Demo is the configuration of the demo building.
//
//go:embed demo.yaml
var Demo []byte

// DemoWorld is the simulated hardware of the demo building, for drivers/sim.
//
//go:embed demo-world.yaml
var DemoWorld []byte
