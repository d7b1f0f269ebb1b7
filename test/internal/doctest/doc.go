// Package doctest runs the examples of the documentation, so that a page says
// what the programs do.
//
// A block ```console is a session: lines "$ command", each followed by what it
// prints on either stream. A command goes on to the end of a here document, while
// a single quote is open, and after a backslash at the end of a line. The commands
// of a block share one bash, the blocks of a page one directory. The exit code
// counts where the page shows it, by echo $?.
//
// In what is expected, … stands for any text of a line, and a line with nothing
// else for any lines. The version in sandbox-run's first line and the times and
// sizes in its last are free as well, so that the page can show real ones, and so
// are the warning that a host without control groups adds and blank lines at the
// end.
//
// Behind the word console may stand
//
//   - needs=A,B: it is run where A and B are there, which the suite knows to tell;
//   - no-test reason="…": it is not run, and why;
//   - what else the suite knows.
//
// Any other block with title=NAME is the file NAME in that directory; the
// paragraph above names it for the reader.
package doctest
