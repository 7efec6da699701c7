package devicetest

// The meeting spaces of the buildings below.
const (
	Room      = "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a01"
	OtherRoom = "7c0b2a54-3f0e-4d8e-9a51-0d2f6b1e4a02"
)

// Building has a light in each of two rooms, and a hub in the first.
const Building = `
gateway: {id: test}
clock: {trust: always}
store: {events: 500}
spaces:
  - id: ` + Room + `
    name: Aurora
    devices:
      - {id: light-1, type: light, driver: scripted, poll: 2s, timeout: 1s, options: {name: light-1}}
      - {id: hub-1, type: o3-sensor, driver: scripted-hub, poll: 2s, timeout: 1s, options: {name: hub-1}}
  - id: ` + OtherRoom + `
    name: Borealis
    devices:
      - {id: light-2, type: light, driver: scripted, poll: 2s, timeout: 1s, options: {name: light-2}}
`

// Planned has two rooms without devices, so that a day passes quickly.
const Planned = `
gateway: {id: test}
clock: {trust: always}
spaces:
  - {id: ` + Room + `, name: Aurora}
  - {id: ` + OtherRoom + `, name: Borealis}
`

// Watched has a room with a sensor, whose empty meetings are given back.
const Watched = `
gateway: {id: test}
clock: {trust: always}
spaces:
  - id: ` + Room + `
    name: Aurora
    booking: {empty: 15m, show_titles: true}
    devices:
      - {id: hub-1, type: o3-sensor, driver: scripted-hub, poll: 20s, timeout: 1s, options: {name: hub-1}}
`
