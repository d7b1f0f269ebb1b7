// A tiny adventure: the world in a data file, the commands on standard input.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"

	"example.test/adventure/world"
)

func main() {
	file := flag.String("world", "default.txt", "file with the rooms")
	flag.Parse()
	w, err := world.Load(*file)
	if err != nil {
		fmt.Fprintln(os.Stderr, "cannot load the world:", err)
		os.Exit(1)
	}
	fmt.Printf("Welcome, %s!\n%s\n", flag.Arg(0), w.Look())
	sc := bufio.NewScanner(os.Stdin)
	for !w.Over() && sc.Scan() {
		fmt.Printf("\n> %s\n%s\n", sc.Text(), w.Do(sc.Text()))
	}
	fmt.Printf("\n%d moves, bag: %q\n", w.Moves(), w.Bag())
}
