// Digests and message authentication codes of a few texts.
package main

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"hash"
	"hash/adler32"
	"hash/crc32"
	"hash/fnv"
	"io"
	"strings"
)

func main() {
	for _, s := range []string{"", "abc", "héllo 你好 🦀"} {
		fmt.Printf("%q\n", s)
		for _, h := range []struct {
			name string
			h    hash.Hash
		}{
			{"md5", md5.New()}, {"sha1", sha1.New()}, {"sha224", sha256.New224()},
			{"sha256", sha256.New()}, {"sha512", sha512.New()}, {"fnv1a", fnv.New64a()},
			{"crc32", crc32.NewIEEE()}, {"adler32", adler32.New()},
		} {
			io.WriteString(h.h, s)
			fmt.Printf("  %-8s %x\n", h.name, h.h.Sum(nil))
		}
	}
	mac := hmac.New(sha256.New, []byte("key"))
	mac.Write([]byte("The quick brown fox jumps over the lazy dog"))
	sum := mac.Sum(nil)
	fmt.Println("hmac", hex.EncodeToString(sum))
	fmt.Println("equal", hmac.Equal(sum, mac.Sum(nil)), subtle.ConstantTimeCompare(sum, sum[1:]))

	h := sha256.New()
	n, _ := io.Copy(h, io.LimitReader(strings.NewReader(strings.Repeat("0123456789", 200_000)), 1_999_999))
	fmt.Printf("streamed %d bytes %x\n", n, h.Sum(nil)[:8])
}
