// Package pages reads a database file of bbolt page by page, with every offset checked, and finds what a damaged one
// still gives.
//
// bbolt trusts what it maps: a damaged page makes it panic, fault or loop. Here damage is an error. A sound file is one
// that File.Check accepts. Of a damaged one, File.Survey gives the rows to which a tree still leads, and
// Survey.Strays those of leaves to which nothing leads any more. All of them carry the seal that Payload checks, so
// that no row is taken for what it is not. The package writes nothing and knows no table: whoever knows what the rows
// of a bucket mean hands in a function that judges them.
//
// A File is read by one goroutine at a time.
package pages
