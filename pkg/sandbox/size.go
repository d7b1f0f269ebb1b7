package sandbox

import (
	"strconv"
	"strings"
)

// FormatBytes writes a size with a binary unit: 512 B, 9.4 MiB, 2 GiB.
func FormatBytes(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	value, unit := float64(n), 0
	for value >= 1024 && unit < len(units)-1 {
		value, unit = value/1024, unit+1
	}
	s := strconv.FormatFloat(value, 'f', 1, 64)
	return strings.TrimSuffix(s, ".0") + " " + units[unit]
}
