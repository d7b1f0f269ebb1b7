package auth

import (
	"net/http"
	"strings"
	"time"
)

// Reason says why a request has no valid key. It is for logs and counters: the
// caller must not learn whether a key was ever valid.
type Reason string

// The reasons of a [KeyError].
const (
	ReasonNone     Reason = "none"
	ReasonUnknown  Reason = "unknown"
	ReasonRevoked  Reason = "revoked"
	ReasonMistyped Reason = "mistyped" // the checksum tells, without a look at any key
	ReasonTwo      Reason = "two"      // different ones in one request
)

// KeyError is a request without a valid key: status 401. Its text is for the
// caller, and the same for none, unknown and revoked.
type KeyError struct {
	Reason Reason
	KeyID  string // of a key that was revoked
}

func (e *KeyError) Error() string {
	switch e.Reason {
	case ReasonMistyped:
		return "the API key is mistyped or cut off: its checksum does not fit"
	case ReasonTwo:
		return "the request has two different API keys: send one"
	}
	return "this needs a valid API key: send it as Authorization: Bearer KEY, or as X-API-Key: KEY"
}

// Authenticate tells whose key the header has. The error is a [*KeyError].
func (a *Authenticator) Authenticate(header http.Header) (Principal, error) {
	key, err := presentedKey(header)
	if err != nil {
		return Principal{}, err
	}
	p := a.policy.Load()
	e, err := p.find(key, a.pepper.hash(sumOf(key)))
	if err != nil {
		return Principal{}, err
	}
	if p.stored[e.KeyID] == e {
		a.mu.Lock()
		a.used[e.KeyID] = time.Now()
		a.mu.Unlock()
	}
	return e.Principal, nil
}

// presentedKey is the key of a request. It may be there twice, as clients send
// it that try both headers, but not differently.
func presentedKey(header http.Header) (string, error) {
	values := header.Values("X-API-Key")
	for _, authorization := range header.Values("Authorization") {
		if scheme, key, _ := strings.Cut(authorization, " "); strings.EqualFold(scheme, "Bearer") {
			values = append(values[:len(values):len(values)], key)
		}
	}
	var key string
	for _, value := range values {
		value = strings.TrimSpace(value)
		if value != "" && key != "" && value != key {
			return "", &KeyError{Reason: ReasonTwo}
		}
		if value != "" {
			key = value
		}
	}
	if key == "" {
		return "", &KeyError{Reason: ReasonNone}
	}
	return key, nil
}
