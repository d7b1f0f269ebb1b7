// A program of several files without a module: tasks in a text format.
package main

import (
	"fmt"
	"os"
	"strings"
)

const plan = `
[x] write the héllo page   #docs  @ann
[ ] translate to 你好       #docs  @bo
[ ] fix the crab 🦀         #bug   @ann !2
[x] release                #ops
[ ] call the plumber               !1
nonsense line
`

func main() {
	var tasks []task
	for i, line := range strings.Split(strings.TrimSpace(plan), "\n") {
		t, err := parseTask(line)
		if err != nil {
			fmt.Printf("line %d: %v\n", i+1, err)
			continue
		}
		tasks = append(tasks, t)
	}
	report(os.Stdout, "by person", group(tasks, func(t task) string { return t.person }))
	report(os.Stdout, "by tag", group(tasks, func(t task) string { return t.tag }))
	fmt.Println("next:", mostUrgent(tasks).title)
}
