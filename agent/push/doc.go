// Package push hands messages to a push gateway that speaks the interface of
// an ntfy server: POST of a JSON object to its root, with a bearer token. It
// keeps nothing and starts nothing; package message/book stores and moves what is
// sent.
//
// # Why
//
// The gateway is named by the configuration, as the mail relay is, so its
// address may be a private one and nobody else can change where messages go.
// Anything that could take them elsewhere is refused all the same: redirects are not
// followed, because the token would go along, and no proxy is used.
//
// A message may come twice, if the power goes between the answer and the note
// of it. It has the same sequence_id then, by which an ntfy server from 2.16 on
// replaces the first; an older one shows both.
package push
