//go:build !fault

package fault

// Off tells whether a guard of a kind, such as a step of an init, is to be left out,
// which is never.
func Off(kind, name string) bool { return false }

// Point is a place where the process may be killed, which it is not.
func Point(name string) {}
