package guest

import (
	"slices"
	"testing"
)

func equal[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		t.Fatal(errs[i])
	}
}
