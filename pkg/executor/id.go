package executor

import (
	"crypto/rand"
	"encoding/binary"
	"time"
)

// NewID is an id of a result. It is unique and sorts by time: a ULID (48 bits of
// milliseconds, 80 random bits, Crockford's base 32).
func NewID(now time.Time) string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	ms := uint64(now.UnixMilli())
	binary.BigEndian.PutUint16(b[:], uint16(ms>>32))
	binary.BigEndian.PutUint32(b[2:], uint32(ms))
	const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	var id [26]byte
	hi, lo := binary.BigEndian.Uint64(b[:]), binary.BigEndian.Uint64(b[8:])
	for i := len(id) - 1; i >= 0; i-- {
		id[i] = alphabet[lo&31]
		lo = lo>>5 | hi<<59
		hi >>= 5
	}
	return string(id[:])
}
