// A tour of fmt: verbs, flags, Stringer, Formatter, GoStringer and scanning.
package main

import (
	"fmt"
	"strings"
)

type weekday int

const (
	monday weekday = iota
	tuesday
	sunday weekday = 6
)

func (d weekday) String() string {
	switch d {
	case monday:
		return "Mon"
	case tuesday:
		return "Tue"
	case sunday:
		return "Sun"
	}
	return fmt.Sprintf("weekday(%d)", int(d))
}

type temperature float64

func (t temperature) Format(f fmt.State, verb rune) {
	prec, ok := f.Precision()
	if !ok {
		prec = 1
	}
	v, unit := float64(t), "°C"
	if verb == 'F' {
		v, unit = v*9/5+32, "°F"
	}
	fmt.Fprintf(f, "%.*f%s", prec, v, unit)
}

type point struct {
	X, Y int
	Tag  *string
	in   []byte
}

type secret string

func (secret) GoString() string { return "secret(***)" }

func main() {
	fmt.Println(monday, sunday, weekday(4), []weekday{1, 2}, map[weekday]int{6: 1, 0: 2})
	fmt.Printf("%d|%x|%5v|%-5v|%q\n", sunday, sunday, tuesday, tuesday, monday)
	fmt.Printf("%v %.3C %F\n", temperature(21.55), temperature(-3.14159), temperature(100))
	p := point{3, -4, nil, []byte("hé")}
	fmt.Printf("%v|%+v|%#v|%T\n", p, p, p, p)
	fmt.Printf("%#v %v\n", secret("hunter2"), secret("shown"))
	fmt.Printf("%08.3f|%+.2e|%g|%6.2f%%|%x\n", 3.14159, 123456.789, 1e21, 99.5, 255.5)
	fmt.Printf("%b|%o|%#o|%#x|%X|%08b|%+d|% d|%c|%U|%#U\n", 10, 64, 64, 255, 48879, 37, 5, 7, 0x1f980, 0x4f60, '好')
	fmt.Printf("%s|%10s|%-10s|%.3s|%q|%x|% x|%+q\n", "héllo", "你好", "🦀", "abcdef", "a\tb", "hi", "hi", "é")
	fmt.Printf("%t|%v|%v|%v\n", true, nil, struct{}{}, [2]bool{true})
	fmt.Printf("%[2]d %[1]d %[2]*[1]d|%d\n", 7, 4)
	fmt.Printf("%v %v %s\n", error(nil), fmt.Errorf("wrapped: %w", fmt.Errorf("inner")), []string{"a b", "c"})
	var name string
	var n int
	var f float64
	count, err := fmt.Sscanf("crab 42 2.5", "%s %d %f", &name, &n, &f)
	fmt.Println(name, n, f, count, err)
	var a, b int
	k, err := fmt.Fscan(strings.NewReader("12\n34 x"), &a, &b)
	fmt.Println(a+b, k, err)
	_, err = fmt.Sscan("zzz", &a)
	fmt.Println(err)
}
