// Package console is what the people who look after a building see of it in a browser:
// a page for each section, each with regions that are rendered here and sent as events,
// by the technique of package web. A button or a form calls an operation of the
// gateway's own interface, which judges who may.
//
// A section is one file with its line in sections and its templates in page: what it
// shows as a plain struct, and the function that gathers it. The templates see the
// struct only, so that every state of it can be rendered in a test.
package console
