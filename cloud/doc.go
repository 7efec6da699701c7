// Package cloud moves messages between a building and its cloud over MQTT
// 3.1.1. It knows topics, envelopes and delivery, and no noun of the building.
//
// A Link is one session with a broker: it connects, subscribes, announces
// itself, hands messages in order to one receiver and publishes what it is
// given. An Uplink drains an Outbox through a Link.
//
// # Why
//
// The MQTT client underneath is given one connection at a time and never
// reconnects by itself. What it stores for a message it deletes when the
// PUBACK arrives and at no other time: that deletion is the only proof of
// delivery a Link believes, for the client's own tokens also succeed when the
// connection flaps. A message is acknowledged to the broker only after the
// receiver returned, because the broker sends it again only if it was not.
package cloud
