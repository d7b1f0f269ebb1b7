package auth

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/store"
)

// maxFileBytes is far above any honest file of keys.
const maxFileBytes = 1 << 20

// fileKey is an entry of a keys file.
type fileKey struct {
	line         int
	given        bool // by key or key_hash
	sum          [sha256.Size]byte
	tenant, name string
	limits       store.KeyLimits
	scopes       []string
}

func readKeysFile(path string) ([]fileKey, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := checkPrivate(f); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFileBytes {
		return nil, fmt.Errorf("%s is larger than 1 MiB", path)
	}
	keys, err := parseKeysFile(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return keys, nil
}

// set gives a field its value. What it says of a wrong one has nothing of the
// value, which may be a secret in the wrong place.
func (k *fileKey) set(field, value string) error {
	switch field {
	case "key":
		if err := checkKey(value); err != nil {
			return err
		}
		return k.give(sumOf(value))
	case "key_hash":
		b, err := hex.DecodeString(value)
		if err != nil || len(b) != sha256.Size {
			return errors.New("key_hash is the SHA-256 of a key in 64 hexadecimal digits, as `printf %s KEY | sha256sum` prints it")
		}
		return k.give([sha256.Size]byte(b))
	case "tenant":
		k.tenant = value
		return checkTenant(value)
	case "name":
		k.name = value
		return checkName(value)
	case "scopes":
		k.scopes = strings.Fields(value)
		return checkScopes(k.scopes)
	case "requests_per_minute":
		return setCount(&k.limits.RequestsPerMinute, field, value)
	case "burst":
		return setCount(&k.limits.Burst, field, value)
	case "concurrency":
		return setCount(&k.limits.Concurrency, field, value)
	case "runs_per_day":
		return setCount(&k.limits.RunsPerDay, field, value)
	case "cpu_seconds_per_day":
		return k.setCPUSeconds(value)
	}
	return errors.New("this is no field of a key: those are key or key_hash, tenant, name, " +
		"scopes, requests_per_minute, burst, concurrency, cpu_seconds_per_day and runs_per_day")
}

func (k *fileKey) give(sum [sha256.Size]byte) error {
	if k.given {
		return errors.New("give key or key_hash, not both")
	}
	k.given, k.sum = true, sum
	return nil
}

func setCount(limit *int64, field, value string) (err error) {
	if *limit, err = strconv.ParseInt(value, 10, 64); err != nil || *limit < 1 {
		return fmt.Errorf("%s is a whole number of at least 1; leave it out for no limit", field)
	}
	return nil
}

func (k *fileKey) setCPUSeconds(value string) (err error) {
	if k.limits.CPUSecondsPerDay, err = strconv.ParseFloat(value, 64); err != nil || k.limits.CPUSecondsPerDay <= 0 {
		return errors.New("cpu_seconds_per_day is a number of more than 0; leave it out for no limit")
	}
	return nil
}
