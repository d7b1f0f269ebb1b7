// Codecs register themselves when their packages are initialised.
package main

import (
	"fmt"
	"os"

	_ "example.test/initorder/codecs/reverse"
	_ "example.test/initorder/codecs/rot"
	"example.test/initorder/registry"
)

var first = announce("variable in main")

func announce(s string) bool {
	fmt.Println("init:", s)
	return true
}

func init() { announce("first init of main") }
func init() { announce("second init of main") }

func main() {
	for _, name := range registry.Names() {
		c, err := registry.Get(name)
		if err != nil {
			panic(err)
		}
		text := "héllo 你好 🦀"
		coded := c.Encode(text)
		fmt.Printf("%-8s %q back %v\n", name, coded, c.Decode(coded) == text)
	}
	if _, err := registry.Get("zip"); err != nil {
		fmt.Println("error:", err, first)
		os.Exit(5)
	}
}
