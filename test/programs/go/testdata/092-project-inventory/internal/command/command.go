// Package command reads one line and applies it to a store.
package command

import (
	"fmt"
	"strconv"
	"strings"

	"example.test/inventory/internal/store"
)

func Run(s *store.Store, line string) (string, error) {
	f := strings.Fields(line)
	switch {
	case len(f) == 1 && f[0] == "list":
		return fmt.Sprintf("%q", s.Names()), nil
	case len(f) == 3 && (f[0] == "add" || f[0] == "take"):
		n, err := strconv.Atoi(f[1])
		if err != nil {
			return "", err
		}
		if f[0] == "add" {
			return fmt.Sprint(s.Add(f[2], n)), nil
		}
		left, err := s.Take(f[2], n)
		return fmt.Sprint(left), err
	}
	return "", fmt.Errorf("cannot read %q", line)
}
