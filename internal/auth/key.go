package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A key that we make is sbx_<id>_<secret>, where the secret ends with a checksum
// of all that is before it. The prefix lets scanners find keys that were
// published by mistake. The lengths are multiples of 5 bytes, which base 32
// writes without padding: each key has one spelling.
const (
	keyPrefix     = "sbx_"
	idBytes       = 5
	secretBytes   = 21 // 168 random bits
	checksumBytes = 4
)

// minKeyLength is the least for a key of the operator's own choosing, and
// maxKeyLength what fits into a header beside others.
const (
	minKeyLength = 16
	maxKeyLength = 1024
)

var (
	errForeign  = errors.New("not a key of ours")
	errMistyped = errors.New("the checksum of the key does not fit")
)

// keyEncoding is RFC 4648's base 32 in lower case.
var keyEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

func generateKey() (id, key string) {
	var b [idBytes + secretBytes]byte
	_, _ = rand.Read(b[:]) // never fails
	id = keyEncoding.EncodeToString(b[:idBytes])
	return id, formatKey(id, b[idBytes:])
}

func formatKey(id string, secret []byte) string {
	head := keyPrefix + id + "_"
	sum := crc32.ChecksumIEEE(append([]byte(head), secret...))
	return head + keyEncoding.EncodeToString(binary.BigEndian.AppendUint32(secret, sum))
}

// keyID is the id of a key that we made. A key with our prefix and another form
// is errMistyped, any other errForeign.
func keyID(key string) (string, error) {
	rest, ours := strings.CutPrefix(key, keyPrefix)
	if !ours {
		return "", errForeign
	}
	id, secret, _ := strings.Cut(rest, "_")
	b, err := keyEncoding.DecodeString(secret)
	if err != nil || len(b) != secretBytes+checksumBytes {
		return "", errMistyped
	}
	// Comparing with the one right spelling checks the length of the id, the
	// checksum, and that the decoder has not skipped anything.
	if len(id) != keyEncoding.EncodedLen(idBytes) || formatKey(id, b[:secretBytes:secretBytes]) != key {
		return "", errMistyped
	}
	return id, nil
}

// sumOf stands for a key wherever the key itself should not: it is what a file
// of keys may have in its place.
func sumOf(key string) [sha256.Size]byte { return sha256.Sum256([]byte(key)) }

// checkKey tells why a key that somebody chose would not do. It must pass
// through a header as it is.
func checkKey(key string) error {
	switch n := utf8.RuneCountInString(key); {
	case n < minKeyLength:
		return fmt.Errorf("an API key needs at least %d characters, and this one has %d", minKeyLength, n)
	case len(key) > maxKeyLength:
		return fmt.Errorf("an API key has at most %d bytes, and this one has %d", maxKeyLength, len(key))
	case !utf8.ValidString(key) || strings.ContainsFunc(key, unicode.IsControl) || strings.TrimSpace(key) != key:
		return errors.New("an API key is UTF-8 without control characters, line breaks, or blanks around it")
	}
	return nil
}
