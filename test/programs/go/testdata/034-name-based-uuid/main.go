// UUIDs made from bytes: versions 3 and 5, parsing and ordering.
package main

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"sort"
	"strings"
)

type uuid [16]byte

func (u uuid) String() string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

func (u uuid) version() int { return int(u[6] >> 4) }

func parse(s string) (u uuid, err error) {
	b, err := hex.DecodeString(strings.ReplaceAll(s, "-", ""))
	if err != nil {
		return u, err
	}
	if copy(u[:], b) != 16 || len(b) != 16 {
		return u, fmt.Errorf("uuid %q has %d bytes, want 16", s, len(b))
	}
	return u, nil
}

func named(space uuid, name string, version byte) (u uuid) {
	data := append(space[:], name...)
	if version == 3 {
		h := md5.Sum(data)
		copy(u[:], h[:])
	} else {
		h := sha1.Sum(data)
		copy(u[:], h[:])
	}
	u[6] = u[6]&0x0f | version<<4
	u[8] = u[8]&0x3f | 0x80
	return u
}

func main() {
	dns, err := parse("6ba7b810-9dad-11d1-80b4-00c04fd430c8")
	if err != nil {
		panic(err)
	}
	var all []uuid
	for _, n := range []string{"example.com", "python.org", "héllo 你好 🦀"} {
		for _, v := range []byte{3, 5} {
			u := named(dns, n, v)
			fmt.Println(u, "version", u.version(), n)
			all = append(all, u)
		}
	}
	sort.Slice(all, func(i, j int) bool { return bytes.Compare(all[i][:], all[j][:]) < 0 })
	fmt.Println("smallest:", all[0], "largest:", all[len(all)-1])
	_, err = parse("1234-abcd")
	fmt.Println(err)
	_, err = parse("xyz")
	fmt.Println(err)
}
