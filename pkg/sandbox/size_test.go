package sandbox

import "testing"

func TestFormatBytes(t *testing.T) {
	for in, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1024: "1 KiB", 1536: "1.5 KiB", 9856614: "9.4 MiB", 512 << 20: "512 MiB", 3 << 29: "1.5 GiB", 1 << 60: "1 EiB", -5: "-5 B",
	} {
		if got := FormatBytes(in); got != want {
			t.Errorf("%d: %q, want %q", in, got, want)
		}
	}
}
