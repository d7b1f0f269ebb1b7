package auth

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sandbox-run/sandbox-run/internal/lazyregexp"
	"github.com/sandbox-run/sandbox-run/internal/store"
)

// DefaultTenant is whom a key belongs to that names no tenant.
const DefaultTenant = "default"

// maxLimit catches absurd limits, which were meant to be none.
const maxLimit = 1_000_000_000

// tenantForm lets a tenant's name be part of a file name.
var tenantForm = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

func checkTenant(tenant string) error {
	if !tenantForm().MatchString(tenant) {
		return errors.New("a tenant is named with 1 to 64 letters, digits, dots, dashes and underscores, and begins with a letter or digit")
	}
	return nil
}

func checkName(name string) error {
	if utf8.RuneCountInString(name) > 100 || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return errors.New("the name of a key has at most 100 characters, all of them printable")
	}
	return nil
}

// ScopeRuntime lets a key have containers here for another server, to run in them
// what it likes.
const ScopeRuntime = "runtime"

func checkScopes(scopes []string) error {
	for i, scope := range scopes {
		if scope != ScopeRuntime || i > 0 {
			return errors.New("the scopes of a key are runtime, for another server that has its containers here, or none")
		}
	}
	return nil
}

// checkLimits refuses what is neither a limit nor none.
func checkLimits(l store.KeyLimits) error {
	for _, c := range []struct {
		name  string
		value float64
	}{
		{"requests_per_minute", float64(l.RequestsPerMinute)},
		{"burst", float64(l.Burst)},
		{"concurrency", float64(l.Concurrency)},
		{"cpu_seconds_per_day", l.CPUSecondsPerDay},
		{"runs_per_day", float64(l.RunsPerDay)},
	} {
		if !(c.value >= 0 && c.value <= maxLimit) { // not a number neither
			return fmt.Errorf("%s must be more than 0 and at most %d; leave it out for no limit", c.name, maxLimit)
		}
	}
	if l.Burst > 0 && l.RequestsPerMinute == 0 {
		return errors.New("burst says how many of requests_per_minute may come at once: give both")
	}
	return nil
}
