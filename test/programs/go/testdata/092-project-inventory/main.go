// An inventory kept in a JSON file by an internal package.
package main

import (
	"bufio"
	"fmt"
	"os"

	"example.test/inventory/internal/command"
	"example.test/inventory/internal/store"
)

func main() {
	st, err := store.Open("stock.json")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	failed := 0
	sc := bufio.NewScanner(os.Stdin)
	for sc.Scan() {
		out, err := command.Run(st, sc.Text())
		if err != nil {
			failed++
			out = "error: " + err.Error()
		}
		fmt.Printf("> %s\n%s\n", sc.Text(), out)
	}
	if err := st.Save(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	saved, err := os.ReadFile("stock.json")
	fmt.Println(string(saved), err)
	again, err := store.Open("stock.json")
	fmt.Println("reloaded:", again.Total(), "pieces,", failed, "commands failed,", err)
}
