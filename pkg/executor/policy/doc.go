// Package policy finds out what source imports, and holds that against a list of
// modules that it should not. It is advice, not a boundary: whoever wants to get
// around it can. The sandbox is what holds a program.
//
// Each language is read as its own compiler reads it, as far as it takes to never
// mistake a comment or a string for an import: Go by go/parser, Rust, Java and
// JavaScript by lexers, without recursion and in one pass, since they run in our
// own process on source that is hostile. TypeScript is read by esbuild where it is
// compiled, inside the sandbox. Python is read by Python, in the interpreter that
// runs the program, before it does (python_*.py); what that learns it writes to its
// standard error, from which a [Listener] takes it.
package policy
