package spawn

// AncestorLibrary is what makes a CPython (3.7 and later) that loads it, as the module
// "ancestor", a server on descriptor 3 whose programs may [Program.Beget]. It is empty where
// there is none for this architecture.
func AncestorLibrary() []byte { return ancestorLibrary }

// Beget appends a fork of an ancestor: the child is born in the pid namespace that the ancestor
// has entered for its children, and makes the calls that child appends, of which the last is
// [Program.Return]. It is done when that was made, or the child is gone. The reply's PID is the
// child's in that namespace, whose init becomes its parent.
func (p *Program) Beget(child func()) { p.Fork("fork an interpreter", callBeget, nil, child) }

// Return has the child of an ancestor go on as the interpreter that it is.
func (p *Program) Return() { p.Call("go on as the interpreter", callReturn) }

// Adopt has a server report the end of a child that somebody else has forked for it. It fails
// with ESRCH once that was reaped.
func (p *Program) Adopt(pid int) { p.Call("adopt a child", callAdopt, Value(pid)) }
