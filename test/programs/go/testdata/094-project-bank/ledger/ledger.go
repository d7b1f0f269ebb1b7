// Package ledger moves money between accounts and keeps a journal.
package ledger

import (
	"errors"
	"fmt"
	"io"

	"example.test/bank/account"
)

var (
	ErrUnknown = errors.New("no such account")
	ErrSame    = errors.New("both sides are the same account")
	ErrAmount  = errors.New("amount must be positive")
)

type Ledger struct {
	accounts []*account.Account
	journal  []string
}

func New(as ...*account.Account) *Ledger { return &Ledger{accounts: as} }

func (l *Ledger) find(owner string) (*account.Account, error) {
	for _, a := range l.accounts {
		if a.Owner() == owner {
			return a, nil
		}
	}
	return nil, fmt.Errorf("%q: %w", owner, ErrUnknown)
}

func (l *Ledger) Transfer(from, to string, cents int64) error {
	if cents <= 0 {
		return fmt.Errorf("%d: %w", cents, ErrAmount)
	}
	a, errA := l.find(from)
	b, errB := l.find(to)
	if err := errors.Join(errA, errB); err != nil {
		return err
	}
	if a == b {
		return ErrSame
	}
	if err := a.Withdraw(cents); err != nil {
		return fmt.Errorf("transfer to %s: %w", to, err)
	}
	b.Deposit(cents)
	l.journal = append(l.journal, fmt.Sprintf("%s → %s %d", from, to, cents))
	return nil
}

// Atomically undoes everything that f did when it fails.
func (l *Ledger) Atomically(f func() error) error {
	before := make([]account.Account, len(l.accounts))
	for i, a := range l.accounts {
		before[i] = *a
	}
	mark := len(l.journal)
	err := f()
	if err != nil {
		for i := range before {
			*l.accounts[i] = before[i]
		}
		l.journal = l.journal[:mark]
	}
	return err
}

func (l *Ledger) Print(w io.Writer) {
	for _, a := range l.accounts {
		fmt.Fprintln(w, a)
	}
	for i, j := range l.journal {
		fmt.Fprintf(w, "%d. %s\n", i+1, j)
	}
}
