// Package setup makes and changes the configuration file of a gateway: it
// looks at what the board has, lays answers over the file, and says what it
// will change before anything is written.
//
// # Why
//
// Answers are a piece of the configuration in its own keys, whether a person
// gave them, a file or the seed on a card: there is one language to learn, and
// one check of it. They are laid over the text of the file and not over its
// tree, because the tree's own printer moves the comments in which every
// setting is explained. The tree says where each key stands; that the new text
// means what it should is proved with the tree again.
package setup
