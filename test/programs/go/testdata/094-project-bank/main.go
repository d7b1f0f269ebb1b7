// A ledger with typed errors, transactions that roll back, and a non-zero exit.
package main

import (
	"errors"
	"fmt"
	"os"

	"example.test/bank/account"
	"example.test/bank/ledger"
)

func main() {
	l := ledger.New(account.New("ann", 100_00), account.New("bob", 20_50), account.New("çelik", 0))
	for _, t := range []struct {
		from, to string
		cents    int64
	}{{"ann", "bob", 30_25}, {"bob", "çelik", 50_00}, {"bob", "çelik", 80_00}, {"çelik", "ann", 1}, {"bob", "zed", 5}, {"bob", "bob", 5}, {"ann", "bob", -4}} {
		err := l.Transfer(t.from, t.to, t.cents)
		var short *account.InsufficientError
		switch {
		case errors.As(err, &short):
			fmt.Printf("%s: short of %d cents (%v)\n", t.from, short.Missing(), err)
		case errors.Is(err, ledger.ErrUnknown):
			fmt.Println("unknown:", err)
		case err != nil:
			fmt.Println("refused:", err)
		}
	}
	err := l.Atomically(func() error {
		if err := l.Transfer("ann", "çelik", 10_00); err != nil {
			return err
		}
		return l.Transfer("çelik", "bob", 999_00)
	})
	fmt.Println("transaction:", err)
	l.Print(os.Stdout)
	if err != nil {
		os.Exit(7)
	}
}
