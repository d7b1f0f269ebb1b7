// Package conventions holds the tests of what this project has agreed on and no
// compiler checks: who may import whom, what is documented, how long a file may
// get, and the mistakes that broke into other sandboxes and have a shape that
// can be seen in the source.
//
// A rule says why it is there. It also brings a source that breaks it and one
// that keeps it, so that a rule that went blind fails by itself. An exception
// names the file and the reason, and one that nothing needs any more fails too.
//
// What golangci-lint can say is in .golangci.yml instead.
package conventions
