// Package roombroker says who may say and hear what at the room broker.
//
// # Why
//
// Anybody who may publish in a device's name makes its state, and anybody who may publish
// its commands gives them. So a user of the room broker has lists of topics, and
// without lists it has its own name, what is below, and what the devices need that
// it speaks for:
//
//   - a device whose account has the user's name, or whose id is the user's name;
//   - of the devices that no user speaks for by a list or by its name, all, if it
//     speaks for none by its name. Where there are several such users, each of them
//     has those devices, but none of them has a door;
//   - what a Home Assistant needs, if it is named like one or no user is, and it
//     speaks for no device by its name.
//
// This keeps a configuration from before there were lists at work, and is a guess:
// [Access.Advice] names those users, for check-config and doctor.
//
// No list reaches a door: what may open one is sent by the gateway alone, and so is
// what the gateway says of itself.
package roombroker
