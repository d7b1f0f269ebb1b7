// Package instance is the ledger of what our processes hold on this machine, so
// that whoever comes after one that died can reclaim what it has left.
//
// An [Instance] is one process of ours as others see it. It owns a number, and
// everything that it makes on this machine carries the number in its name:
// control groups, directories, user ids. The number is a file in the runtime
// directory that its owner holds locked. A file that can be locked belongs to a
// process that died, and what carries its number can be reclaimed.
//
//	instance_linux.go   the number, its file and directory, and the dead
//	ids_linux.go        the number's block of user ids
//	remove_linux.go     removing what programs have left
//
// Locked files, ids and trees are those of Linux; elsewhere the package is empty.
package instance
