// An interpreter for the eight-instruction language, with precomputed jumps.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

var errBrackets = errors.New("unbalanced brackets")

func jumps(src string) (map[int]int, error) {
	out := map[int]int{}
	var open []int
	for i, c := range src {
		switch c {
		case '[':
			open = append(open, i)
		case ']':
			if len(open) == 0 {
				return nil, fmt.Errorf("%w: ] at %d", errBrackets, i)
			}
			j := open[len(open)-1]
			open = open[:len(open)-1]
			out[i], out[j] = j, i
		}
	}
	if len(open) > 0 {
		return nil, fmt.Errorf("%w: [ at %d", errBrackets, open[0])
	}
	return out, nil
}

func run(src string, in *strings.Reader) (out []byte, steps int, err error) {
	jump, err := jumps(src)
	if err != nil {
		return nil, 0, err
	}
	var tape [30000]byte
	for pc, p := 0, 0; pc < len(src); pc++ {
		steps++
		switch src[pc] {
		case '>':
			p++
		case '<':
			p--
		case '+':
			tape[p]++
		case '-':
			tape[p]--
		case '.':
			out = append(out, tape[p])
		case ',':
			tape[p], _ = in.ReadByte()
		case '[':
			if tape[p] == 0 {
				pc = jump[pc]
			}
		case ']':
			if tape[p] != 0 {
				pc = jump[pc]
			}
		}
	}
	return out, steps, nil
}

func main() {
	programs := []struct{ name, src, in string }{
		{"alphabet", "+++++[>+++++++++++++<-]++++++++++++++++++++++++++[>.+<-]", ""},
		{"reverse", ">,[>,]<[.<]", "stressed desserts!"},
		{"upper", ",[>++++[<-------->-]<.,]", "shoutinglouder"},
		{"triangle", "++++++++++>++++++[>+++++++<-]+++++++[>>+[>+>+<<-]>>[<<+>>-]<[<<.>>-]<<<<.>-]", ""},
		{"busy", "++++++++[>++++++++[>++++++++[>++++++++[>+<-]<-]<-]<-]>>>>+++++++[<+++++++>-]<.", ""},
		{"broken", "+[>+", ""},
	}
	for _, p := range programs {
		out, steps, err := run(p.src, strings.NewReader(p.in))
		fmt.Printf("%s: %d steps, error %v\n%s\n", p.name, steps, err, bytes.TrimSpace(out))
	}
}
