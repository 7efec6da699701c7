// Package calendar reads the calendars that a building already has and writes
// the one that Roomgate keeps: iCalendar (RFC 5545) by http(s) in, one feed
// per room out.
//
// Where the RFC leaves a choice, or real calendars break it, these rules hold:
//
//   - A local time that a clock change skips is read with the offset from
//     before the change; one that happens twice is the first of the two
//     (RFC 5545, 3.3.5). An occurrence that falls into the skipped hour stays,
//     because a room that may be used must not look free, and one that would
//     end before it starts takes as long as its clock times are apart.
//   - With DTEND every occurrence lasts equally long; with DURATION the days
//     are counted on the wall clock and the rest is exact (3.8.5.3).
//   - A date-time event without an end, or with an end at its start, takes no
//     time and is left out. A date event without an end is one day.
//   - A time without a zone beside a DTSTART that has one is of that zone.
//   - Rules that come round more often than daily are refused: the first
//     occurrence counts, and the event is one that was not read whole.
//   - DTSTART belongs to a series also if the rule does not yield it, and
//     counts as the first of COUNT.
//   - EXDATE is stronger than a changed occurrence with the same
//     RECURRENCE-ID; a changed occurrence that the rule does not yield stays.
//   - A zone name is looked up as an IANA name, then as a Windows name, then
//     among the file's own VTIMEZONE definitions, then as a name that Windows
//     shows to people. The first two win because definitions in files often
//     hold the present year's rules alone. A name
//     that is none of them counts as the room's zone, and is a problem.
//   - A calendar that stops in the middle is an error, not a short calendar:
//     anybody who trusts it would free rooms.
package calendar
