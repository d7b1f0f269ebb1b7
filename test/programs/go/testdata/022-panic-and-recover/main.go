// Deferred calls run in reverse, panics become errors, the rest goes on.
package main

import (
	"fmt"
	"runtime"
	"strings"
)

func safely(name string, f func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case runtime.Error:
			err = fmt.Errorf("%s: runtime error: %s", name, strings.TrimPrefix(r.Error(), "runtime error: "))
		case error:
			err = fmt.Errorf("%s: %w", name, r)
		default:
			err = fmt.Errorf("%s: panic with %T %v", name, r, r)
		}
	}()
	f()
	return nil
}

func stack(n int) {
	defer fmt.Printf("leave %d\n", n)
	if n == 3 {
		panic("bottom")
	}
	stack(n + 1)
}

func main() {
	var m map[string]int
	var p *struct{ x int }
	var s []int
	zero := 0
	var any interface{} = "text"
	for _, c := range []struct {
		name string
		f    func()
	}{
		{"nil map", func() { m["a"] = 1 }},
		{"nil pointer", func() { p.x = 1 }},
		{"index", func() { _ = s[len(s)+4] }},
		{"slice", func() { _ = "hello"[len(s)+9:] }},
		{"division", func() { fmt.Println(1 / zero) }},
		{"assertion", func() { fmt.Println(any.(int)) }},
		{"negative make", func() { _ = make([]byte, zero-1) }},
		{"closed channel", func() { c := make(chan int); close(c); close(c) }},
		{"own value", func() { panic([]int{1, 2, 3}) }},
		{"own error", func() { panic(fmt.Errorf("héllo 你好 🦀")) }},
		{"fine", func() {}},
		{"stack", func() { stack(1) }},
	} {
		fmt.Println(safely(c.name, c.f))
	}
}
