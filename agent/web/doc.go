// Package web is what people look at: the page at a door, and the technique of
// every page of the gateway.
//
// A page is a shell without a secret, one stylesheet and one classic script. The
// script reads one event stream, whose events are regions of the page, rendered
// here: language, zone, privacy and what one may do are decided in one place. A
// [Feed] renders a state once, for however many look at it.
//
// The package asks no noun: who serves a page says in a [View] what it shows.
package web
