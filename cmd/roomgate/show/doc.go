// Package show renders what a command says for a terminal, and reads what people
// type into it: tables, a day of bookings as a bar, the time as the clock of a
// meeting space shows it, how far long work is, and questions. It asks no
// gateway, and knows no command.
package show
