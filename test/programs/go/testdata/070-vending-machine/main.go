// A state machine driven by standard input; an unknown command exits with 4.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
)

type state int

const (
	idle state = iota
	paying
	dispensing
)

func (s state) String() string { return [...]string{"idle", "paying", "dispensing"}[s] }

type machine struct {
	state  state
	credit int
	stock  map[string]int
	price  map[string]int
}

func (m *machine) handle(cmd string, args []string) error {
	switch {
	case cmd == "coin" && len(args) == 1:
		n, err := strconv.Atoi(args[0])
		if err != nil || n <= 0 {
			return fmt.Errorf("bad coin %q", args[0])
		}
		m.credit += n
		m.state = paying
	case cmd == "pick" && len(args) == 1:
		price, ok := m.price[args[0]]
		switch {
		case !ok:
			return fmt.Errorf("no such thing as %q", args[0])
		case m.stock[args[0]] == 0:
			return fmt.Errorf("%s is sold out", args[0])
		case m.credit < price:
			return fmt.Errorf("%s costs %d, you have %d", args[0], price, m.credit)
		}
		m.credit -= price
		m.stock[args[0]]--
		m.state = dispensing
		fmt.Println("  *clunk*", args[0])
	case cmd == "refund":
		fmt.Println("  returned", m.credit)
		m.credit, m.state = 0, idle
	default:
		return fmt.Errorf("unknown command %q: %w", cmd, errFatal)
	}
	return nil
}

var errFatal = fmt.Errorf("out of order")

func main() {
	m := &machine{stock: map[string]int{"tea": 1, "soup": 5}, price: map[string]int{"tea": 120, "soup": 250}}
	sc := bufio.NewScanner(os.Stdin)
	for sc.Scan() {
		f := strings.Fields(sc.Text())
		if len(f) == 0 {
			continue
		}
		err := m.handle(f[0], f[1:])
		fmt.Printf("%-10s -> %v, credit %d\n", sc.Text(), m.state, m.credit)
		if err != nil {
			fmt.Println("  error:", err)
			if strings.HasSuffix(err.Error(), errFatal.Error()) {
				os.Exit(4)
			}
		}
	}
}
