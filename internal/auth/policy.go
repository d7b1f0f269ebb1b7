package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/sandbox-run/sandbox-run/internal/store"
)

// Principal is who calls.
type Principal struct {
	KeyID  string
	Tenant string
	Name   string // of the key
	Limits store.KeyLimits
	// Scopes are what the key may do beside running programs; see ScopeRuntime.
	Scopes []string
}

// entry is a key that is known.
type entry struct {
	Principal
	hash    []byte
	revoked bool
}

// policy is all keys at one time. It never changes.
type policy struct {
	stored map[string]*entry // those of the database, by id
	chosen []*entry          // the operator's, from configuration and file
}

func newPolicy(stored []store.Key, chosen []*entry) *policy {
	p := &policy{stored: map[string]*entry{}, chosen: chosen}
	for _, k := range stored {
		p.stored[k.ID] = &entry{
			Principal: Principal{KeyID: k.ID, Tenant: k.Tenant, Name: k.Name, Limits: k.Limits, Scopes: k.Scopes},
			hash:      k.Hash, revoked: !k.Revoked.IsZero(),
		}
	}
	return p
}

// configuredKey is the one key of a configuration, as an entry of a file would
// be; none when the key is empty.
func configuredKey(key string) ([]fileKey, error) {
	if key == "" {
		return nil, nil
	}
	if err := checkKey(key); err != nil {
		return nil, fmt.Errorf("the API key of the configuration: %w", err)
	}
	return []fileKey{{given: true, sum: sumOf(key), tenant: DefaultTenant, name: "configuration"}}, nil
}

// chosenEntries are the keys that an operator has chosen.
func chosenEntries(p pepper, keys []fileKey) ([]*entry, error) {
	var entries []*entry
	seen := map[[sha256.Size]byte]bool{}
	for _, k := range keys {
		if seen[k.sum] {
			return nil, fmt.Errorf("line %d of the keys file: this key is given before, there or in the configuration", k.line)
		}
		seen[k.sum] = true
		entries = append(entries, &entry{
			Principal: Principal{KeyID: p.id(k.sum), Tenant: k.tenant, Name: k.name, Limits: k.limits, Scopes: k.scopes},
			hash:      p.hash(k.sum),
		})
	}
	return entries, nil
}

// find returns the entry of a key, given its hash too. The time that it takes
// tells nothing of a key: hashes are compared in constant time.
func (p *policy) find(key string, hash []byte) (*entry, error) {
	id, wrong := keyID(key)
	if e := p.stored[id]; wrong == nil && e != nil && hmac.Equal(e.hash, hash) {
		if e.revoked {
			return nil, &KeyError{Reason: ReasonRevoked, KeyID: id}
		}
		return e, nil
	}
	for _, e := range p.chosen {
		if hmac.Equal(e.hash, hash) {
			return e, nil
		}
	}
	if errors.Is(wrong, errMistyped) {
		return nil, &KeyError{Reason: ReasonMistyped}
	}
	return nil, &KeyError{Reason: ReasonUnknown}
}

// size counts the keys that are valid.
func (p *policy) size() int {
	n := len(p.chosen)
	for _, e := range p.stored {
		if !e.revoked {
			n++
		}
	}
	return n
}
