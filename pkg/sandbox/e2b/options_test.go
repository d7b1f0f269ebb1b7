package e2b

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// A key does not show itself, however it is printed.
func TestSecretIsRedacted(t *testing.T) {
	const value = "e2b_secret_value"
	s := NewSecret(value + "\n")
	holder := struct {
		Key  Secret
		Many []Secret
		Map  map[string]Secret
	}{s, []Secret{s}, map[string]Secret{"a": s}}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "key", s, "holder", holder)
	encoded, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{s.String(), log.String(), string(encoded)}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%T %v"} {
		texts = append(texts, fmt.Sprintf(verb, holder), fmt.Sprintf(verb, s), fmt.Sprintf(verb, &s), fmt.Sprintf(verb, Options{APIKey: s}))
	}
	for _, text := range texts {
		if strings.Contains(text, "secret_value") || strings.Contains(text, fmt.Sprintf("%x", value)) {
			t.Errorf("the key shows: %s", text)
		}
	}
}

func TestOptions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(" e2b_from_file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := Options{APIKeyFile: file, SandboxURL: "http://127.0.0.1:1/"}.complete()
	if err != nil {
		t.Fatal(err)
	}
	if o.APIKey.Reveal() != "e2b_from_file" || o.APIURL != "https://api.e2b.app" || o.SandboxURL != "http://127.0.0.1:1" || o.Template != "base" || o.Timeout != 5*time.Minute {
		t.Errorf("%+v", o)
	}
	key := NewSecret("k")
	for name, bad := range map[string]Options{
		"E2B_API_KEY":          {},
		"read the key":         {APIKeyFile: file + "x"},
		"must be the key":      {APIKey: NewSecret("a b")},
		"E2B_API_URL":          {APIKey: key, APIURL: "api.e2b.app"},
		"E2B_SANDBOX_URL":      {APIKey: key, SandboxURL: "ftp://x"},
		"no domain":            {APIKey: key, Domain: "a/b"},
		"a sandbox lives from": {APIKey: key, Timeout: time.Second},
	} {
		if _, err := New(bad); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPrices(t *testing.T) {
	began := time.Unix(1000, 0)
	rt := &Runtime{client: &client{options: Options{Prices: Prices{PerVCPUSecond: 0.5, PerGiBSecond: 0.25}}}}
	c := &container{rt: rt, cores: 2, memory: 512 << 20, began: began, ended: began.Add(8 * time.Second)}
	if cost, ok := c.Cost(); !ok || cost != (sandbox.Cost{Seconds: 8, CPUs: 2, MemoryBytes: 512 << 20, Amount: 8 * (1 + 0.125)}) {
		t.Errorf("%+v %v", cost, ok)
	}
	rt.client.options.Prices = Prices{}
	if _, ok := c.Cost(); ok {
		t.Error("a cost without prices")
	}
}
