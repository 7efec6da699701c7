// Package agent joins the nouns of the building, each of which is a package of its
// own: it opens and runs them, and hands on what the cloud says.
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
