// Sentinel errors, error types, wrapping and joining.
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
)

var errEmpty = errors.New("empty input")

type rangeError struct {
	field    string
	got      int
	min, max int
}

func (e *rangeError) Error() string {
	return fmt.Sprintf("%s: %d is not between %d and %d", e.field, e.got, e.min, e.max)
}

func parseAge(s string) (int, error) {
	if s == "" {
		return 0, fmt.Errorf("age: %w", errEmpty)
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, fmt.Errorf("age: %w", err)
	}
	if n < 0 || n > 150 {
		return 0, &rangeError{"age", n, 0, 150}
	}
	return n, nil
}

func main() {
	var all []error
	for _, s := range []string{"42", "", "abc", "999", "99999999999999999999"} {
		n, err := parseAge(s)
		var re *rangeError
		switch {
		case err == nil:
			fmt.Println("ok", n)
		case errors.Is(err, errEmpty):
			fmt.Println("empty:", err)
		case errors.As(err, &re):
			fmt.Println("range:", re.got, "->", err)
		case errors.Is(err, strconv.ErrRange):
			fmt.Println("overflow:", err)
		default:
			fmt.Println("syntax:", errors.Is(err, strconv.ErrSyntax), err)
		}
		all = append(all, err)
	}
	joined := errors.Join(all...)
	fmt.Println(joined)
	fmt.Println(errors.Is(joined, errEmpty), errors.Is(joined, fs.ErrNotExist))

	_, err := os.ReadFile("no/such/file.txt")
	var pe *fs.PathError
	if errors.As(err, &pe) {
		fmt.Println(pe.Op, pe.Path, errors.Is(err, fs.ErrNotExist))
	}
}
