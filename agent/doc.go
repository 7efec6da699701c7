// Package agent is the building: its spaces and devices, what is known of
// them, and the commands they are given. What happened is in package eventlog.
//
// Open loads what was stored, Run moves everything until its context ends,
// Close lets go. No goroutine starts outside Run; a broken device never ends
// it, only the store does.
//
// # Why
//
// What the gateway sends to the cloud and what it answers locally come from
// one log, package eventlog. A row of it is written in the transaction that
// made it true; the outbox is the part that the cloud has not acknowledged. So an
// event cannot be known here and lost there, and costs one write, not two.
package agent
