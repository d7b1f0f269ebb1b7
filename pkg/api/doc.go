// Package api holds the wire types: what goes in ([Request]), what comes out
// ([Result]) and what happens in between ([Event]).
//
// The same JSON is printed by the command line and answered by the server. Field
// names are final: new fields may be added, none is renamed. The package is plain data;
// its only behaviour is validation, and to name the place at fault. Units are part of a
// field's name or stated beside it.
package api
