// Package bench measures what runs cost: the same small programs on the bare host and in
// other ways, in turns, so that a machine that is busy with something else is so for all of
// them alike.
package bench
