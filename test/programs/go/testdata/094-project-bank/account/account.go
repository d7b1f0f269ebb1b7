// Package account is one balance that never goes below zero.
package account

import "fmt"

type Account struct {
	owner string
	cents int64
}

// InsufficientError says how much was asked and how much there was.
type InsufficientError struct{ Asked, Had int64 }

func (e *InsufficientError) Error() string {
	return fmt.Sprintf("asked for %d, has %d", e.Asked, e.Had)
}

func (e *InsufficientError) Missing() int64 { return e.Asked - e.Had }

func New(owner string, cents int64) *Account { return &Account{owner, cents} }

func (a *Account) Owner() string { return a.owner }
func (a *Account) Cents() int64  { return a.cents }

func (a *Account) Deposit(cents int64) { a.cents += cents }

func (a *Account) Withdraw(cents int64) error {
	if cents > a.cents {
		return &InsufficientError{cents, a.cents}
	}
	a.cents -= cents
	return nil
}

func (a *Account) String() string {
	return fmt.Sprintf("%-6s %4d.%02d", a.owner, a.cents/100, a.cents%100)
}
