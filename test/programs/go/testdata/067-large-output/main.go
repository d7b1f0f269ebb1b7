// Prints a table of some 300 KB through a buffered writer.
package main

import (
	"bufio"
	"fmt"
	"os"
)

func main() {
	w := bufio.NewWriterSize(os.Stdout, 1<<15)
	defer w.Flush()
	written := 0
	sum := uint64(0)
	for n := uint64(1); n <= 6000; n++ {
		digits := 0
		for m := n * n * n; m > 0; m /= 10 {
			digits += int(m % 10)
		}
		sum += n * n * n
		k, err := fmt.Fprintf(w, "%6d %12d %15d %3d %x\n", n, n*n, n*n*n, digits, n*2654435761%1000003)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		written += k
	}
	fmt.Fprintf(w, "%d bytes above this line, sum of cubes %d\n", written, sum)
}
