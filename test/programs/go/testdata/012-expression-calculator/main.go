// A recursive-descent calculator: one expression a line on standard input.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
)

type parser struct {
	src  string
	pos  int
	vars map[string]float64
}

func (p *parser) accept(chars string) byte {
	for p.pos < len(p.src) && p.src[p.pos] == ' ' {
		p.pos++
	}
	if p.pos < len(p.src) && strings.IndexByte(chars, p.src[p.pos]) >= 0 {
		p.pos++
		return p.src[p.pos-1]
	}
	return 0
}

func (p *parser) sum() float64 {
	v := p.product()
	for {
		switch p.accept("+-") {
		case '+':
			v += p.product()
		case '-':
			v -= p.product()
		default:
			return v
		}
	}
}

func (p *parser) product() float64 {
	v := p.power()
	for {
		switch p.accept("*/") {
		case '*':
			v *= p.power()
		case '/':
			d := p.power()
			if d == 0 {
				panic(errors.New("division by zero"))
			}
			v /= d
		default:
			return v
		}
	}
}

func (p *parser) power() float64 {
	if p.accept("-") != 0 {
		return -p.power()
	}
	base := p.atom()
	if p.accept("^") != 0 {
		return math.Pow(base, p.power())
	}
	return base
}

func (p *parser) atom() float64 {
	if p.accept("(") != 0 {
		v := p.sum()
		if p.accept(")") == 0 {
			panic(fmt.Errorf("missing ) at %d", p.pos))
		}
		return v
	}
	start := p.pos
	for p.pos < len(p.src) && strings.IndexByte("0123456789.abcdefghijklmnopqrstuvwxyz", p.src[p.pos]) >= 0 {
		p.pos++
	}
	word := p.src[start:p.pos]
	if v, err := strconv.ParseFloat(word, 64); err == nil {
		return v
	}
	if v, ok := p.vars[word]; ok {
		return v
	}
	panic(fmt.Errorf("unexpected %q at %d", p.src[start:], start))
}

func eval(line string, vars map[string]float64) (v float64, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = r.(error)
		}
	}()
	name, expr, assign := strings.Cut(line, "=")
	if !assign {
		expr = line
	}
	p := &parser{src: expr, vars: vars}
	v = p.sum()
	if p.accept(" "); p.pos < len(expr) {
		return 0, fmt.Errorf("trailing %q", expr[p.pos:])
	}
	if assign {
		vars[strings.TrimSpace(name)] = v
	}
	return v, nil
}

func main() {
	vars := map[string]float64{"pi": math.Pi}
	sc := bufio.NewScanner(os.Stdin)
	for sc.Scan() {
		if v, err := eval(sc.Text(), vars); err != nil {
			fmt.Printf("%s  !! %v\n", sc.Text(), err)
		} else {
			fmt.Printf("%s  => %.6g\n", sc.Text(), v)
		}
	}
}
