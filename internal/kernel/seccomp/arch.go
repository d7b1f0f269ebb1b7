package seccomp

import (
	"fmt"
	"strings"
)

//go:generate go run gen.go

// Arch is an architecture, as the AUDIT_ARCH_* value (linux/audit.h) that the
// kernel hands to a filter with each call.
type Arch uint32

// The architectures that there are tables for. Both are little-endian and have
// 64-bit arguments, which the compiler relies on.
const (
	AMD64 Arch = 0xc000003e
	ARM64 Arch = 0xc00000b7
)

// x32Bit marks the numbers of amd64's second interface, with 32-bit pointers
// (__X32_SYSCALL_BIT). It reaches the same kernel code by other numbers.
const x32Bit = 0x40000000

// ArchOf returns the architecture that Go calls name, as in runtime.GOARCH.
func ArchOf(name string) (Arch, error) {
	switch name {
	case "amd64":
		return AMD64, nil
	case "arm64":
		return ARM64, nil
	}
	return 0, fmt.Errorf("seccomp: no table of system calls for %s, only for amd64 and arm64", name)
}

// number looks up a system call. It returns -1 for one that this architecture
// lacks; known is false when every architecture does.
func (a Arch) number(name string) (number int, known bool) {
	amd64, arm64 := numbers(name)
	known = amd64 >= 0 || arm64 >= 0
	if a == ARM64 {
		return arm64, known
	}
	return amd64, known
}

// Number is the number of a system call, or -1 where the architecture lacks it.
func (a Arch) Number(name string) int {
	n, _ := a.number(name)
	return n
}

// Name is the name of a system call, or empty for a number that the tables lack.
func (a Arch) Name(number int) string {
	if number < 0 || number > lastNumber {
		return ""
	}
	return a.names()[number]
}

// names are all names by number.
func (a Arch) names() (table [lastNumber + 1]string) {
	for name := range strings.FieldsSeq(names) {
		if n, _ := a.number(name); n >= 0 {
			table[n] = name
		}
	}
	return table
}
