package auth

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestGeneratedKeys(t *testing.T) {
	form := regexp.MustCompile(`^sbx_[a-z2-7]{8}_[a-z2-7]{40}$`)
	seen := map[string]bool{}
	for range 10_000 {
		id, key := generateKey()
		if !form.MatchString(key) || seen[key] || seen[id] {
			t.Fatalf("key %s, id %s", key, id)
		}
		if got, err := keyID(key); got != id || err != nil {
			t.Fatalf("%s: id %s, want %s: %v", key, got, id, err)
		}
		seen[key], seen[id] = true, true
	}
}

func TestKeyID(t *testing.T) {
	const good = "sbx_aaaaaaaa_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaabnrwfvu"
	if want := formatKey("aaaaaaaa", make([]byte, secretBytes)); want != good {
		t.Fatalf("the form of keys has changed, and with it every key: %s", want)
	}
	for key, want := range map[string]error{
		good:                                 nil,
		"":                                   errForeign,
		"sk_live_0123456789":                 errForeign,
		"SBX_" + good[4:]:                    errForeign,
		"sbx_":                               errMistyped,
		good[:len(good)-1]:                   errMistyped,
		good + "a":                           errMistyped,
		good + "\n":                          errMistyped,
		strings.Replace(good, "aa", "ab", 1): errMistyped,
		strings.ToUpper(good[4:]):            errForeign,
		"sbx_" + strings.ToUpper(good[4:]):   errMistyped,
		strings.Replace(good, "_a", "_", 1):  errMistyped,
		"sbx_aaaaaaaa-" + good[13:]:          errMistyped,
	} {
		if _, err := keyID(key); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", key, err, want)
		}
	}
}

// A wrong character, and two that changed places, are told without a look at
// any key.
func TestTyposAreTold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, key := generateKey()
		i := rapid.IntRange(len(keyPrefix), len(key)-1).Draw(t, "at")
		b := []byte(key)
		if i > len(keyPrefix) && rapid.Bool().Draw(t, "swap") {
			b[i], b[i-1] = b[i-1], b[i]
		} else {
			b[i] = rapid.Byte().Draw(t, "instead")
		}
		if _, err := keyID(string(b)); string(b) != key && !errors.Is(err, errMistyped) {
			t.Errorf("%s instead of %s: %v", b, key, err)
		}
	})
}

func FuzzKeyID(f *testing.F) {
	_, key := generateKey()
	f.Add(key)
	f.Add("sbx_aaaaaaaa_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaabnrwfvu")
	f.Add("sbx__")
	f.Fuzz(func(t *testing.T, key string) {
		id, err := keyID(key)
		switch {
		case err == nil && (len(id) != 8 || len(key) != 53 || !strings.HasPrefix(key, "sbx_"+id+"_")):
			t.Errorf("%q has the id %q", key, id)
		case err != nil && id != "":
			t.Errorf("%q is wrong (%v) and has the id %q", key, err, id)
		}
	})
}

func TestCheckKey(t *testing.T) {
	for key, want := range map[string]string{
		"0123456789abcdef":        "",
		"correct horse battery":   "",
		"ключключключключ":        "",
		"0123456789abcde":         "at least 16 characters, and this one has 15",
		"":                        "has 0",
		"ключключ":                "has 8",
		" 0123456789abcdef":       "blanks around",
		"0123456789\nabcdef":      "control characters",
		"0123456789abcdef\xff":    "UTF-8",
		strings.Repeat("a", 2000): "at most 1024 bytes",
	} {
		err := checkKey(key)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", key, err, want)
		}
	}
}
