package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// MaxCPUs and MaxCount catch absurd values. The first is what
// [sandbox.Limits.Validate] takes; the second is the largest pid of a 64-bit
// Linux kernel (PID_MAX_LIMIT).
const (
	MaxCPUs  = 4096
	MaxCount = 4 << 20
)

// ParseBytes reads a size: plain bytes, or a number with k, m, g or t, which
// are powers of 1024 as in docker (512m, 1.5g, 64KiB). Zero, negative and
// absurdly large sizes are errors, never unlimited.
func ParseBytes(s string) (int64, error) {
	number, unit := splitUnit(s)
	factor, ok := byteUnit(unit)
	value, err := parseDecimal(number)
	if !ok || err != nil {
		return 0, fmt.Errorf("%q is not a size: write bytes, or a number with k, m or g such as 512m or 1.5g", s)
	}
	value *= factor
	switch {
	case value < 1:
		return 0, fmt.Errorf("the size %q must be more than zero bytes", s)
	case value > sandbox.MaxBytes:
		return 0, fmt.Errorf("the size %q is absurdly large: the most is 1 EiB", s)
	}
	return int64(value), nil
}

// ParseDuration reads a duration: Go's notation (500ms, 1m30s) or plain
// seconds. Zero, negative and absurdly long durations are errors.
func ParseDuration(s string) (time.Duration, error) {
	var d time.Duration
	seconds, err := parseDecimal(s)
	switch {
	case err == nil && seconds > sandbox.MaxWallTime.Seconds():
		d = math.MaxInt64
	case err == nil:
		d = time.Duration(seconds * float64(time.Second))
	default:
		if d, err = time.ParseDuration(s); err != nil {
			return 0, fmt.Errorf("%q is not a duration: write 500ms, 2s, 1m30s or plain seconds", s)
		}
	}
	switch {
	case d < time.Millisecond:
		return 0, fmt.Errorf("the duration %q is too short: the least is 1ms", s)
	case d > sandbox.MaxWallTime:
		return 0, fmt.Errorf("the duration %q is absurdly long: the most is %v", s, sandbox.MaxWallTime)
	}
	return d, nil
}

// ParseSeconds reads a positive number of seconds, as the variables whose names
// end in _SEC hold it.
func ParseSeconds(s string) (time.Duration, error) {
	if _, err := parseDecimal(s); err != nil {
		return 0, fmt.Errorf("%q is not a number of seconds such as 33 or 0.5", s)
	}
	return ParseDuration(s)
}

// ParseCPUs reads a number of cores such as 2 or 0.5.
func ParseCPUs(s string) (float64, error) {
	value, err := parseDecimal(s)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number of CPUs such as 2 or 0.5", s)
	}
	if value < 0.01 || value > MaxCPUs {
		return 0, fmt.Errorf("%q CPUs is out of range: at least 0.01, at most %d", s, MaxCPUs)
	}
	return value, nil
}

// ParseCount reads a whole number from 1 to [MaxCount].
func ParseCount(s string) (int64, error) {
	value, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a whole number", s)
	}
	if value < 1 || value > MaxCount {
		return 0, fmt.Errorf("%s is out of range: at least 1, at most %d", s, MaxCount)
	}
	return value, nil
}

// parseDecimal reads digits with an optional fraction and an optional minus
// sign. It exists because strconv.ParseFloat also takes nan, inf, hexadecimal
// and exponents, none of which a person means by a limit.
func parseDecimal(s string) (float64, error) {
	digits := strings.TrimPrefix(s, "-")
	if digits == "" || strings.Trim(digits, "0123456789.") != "" {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(s, 64)
}

// splitUnit separates the number from the letters that follow it.
func splitUnit(s string) (number, unit string) {
	end := strings.LastIndexAny(s, "0123456789.") + 1
	return s[:end], s[end:]
}

func byteUnit(unit string) (factor float64, ok bool) {
	switch strings.ToLower(unit) {
	case "", "b":
		return 1, true
	case "k", "kb", "kib":
		return 1 << 10, true
	case "m", "mb", "mib":
		return 1 << 20, true
	case "g", "gb", "gib":
		return 1 << 30, true
	case "t", "tb", "tib":
		return 1 << 40, true
	}
	return 0, false
}

// ValueError is a value that only what it is for can tell to be wrong.
type ValueError struct {
	Name string // of the setting
	Err  error
}

func (e *ValueError) Error() string { return e.Name + ": " + e.Err.Error() }

// Unwrap returns what is wrong.
func (e *ValueError) Unwrap() error { return e.Err }
