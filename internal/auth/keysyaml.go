package auth

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"

	"github.com/sandbox-run/sandbox-run/internal/lazyregexp"
)

var errNoList = errors.New("expected a list of keys, each beginning with a dash: - key: …")

// parseKeysFile reads a list of keys:
//
//	# limits that are left out are none
//	- key: a secret of at least 16 characters
//	  tenant: acme
//	  name: build machine
//	  scopes: runtime
//	  requests_per_minute: 60
//	  burst: 10
//	  concurrency: 4
//	  cpu_seconds_per_day: 3600
//	  runs_per_day: 1000
//	- key_hash: 64 hexadecimal digits
//
// Whatever is not understood is an error with its line: a misspelt limit would
// be none. A file with nothing in it is an error too, since that is what a
// broken copy leaves; no keys are [].
func parseKeysFile(data []byte) ([]fileKey, error) {
	list, err := parseList(data)
	if err != nil {
		return nil, err
	}
	var keys []fileKey
	for _, entry := range list.Content {
		k := fileKey{line: entry.Line, tenant: DefaultTenant}
		if err := k.parse(entry); err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// parseList reads one document that is a list.
func parseList(data []byte) (*yaml.Node, error) {
	var document, more yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return nil, errors.New("the file is empty: write [] for no keys")
	} else if err != nil {
		return nil, withoutText(err)
	}
	if err := decoder.Decode(&more); err == nil {
		return nil, fmt.Errorf("line %d: expected one YAML document, and here begins another", more.Line)
	} else if !errors.Is(err, io.EOF) {
		return nil, withoutText(err)
	}
	if len(document.Content) != 1 || document.Content[0].Kind != yaml.SequenceNode {
		return nil, errNoList
	}
	return document.Content[0], nil
}

func (k *fileKey) parse(entry *yaml.Node) error {
	if entry.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: %w", entry.Line, errNoList)
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(entry.Content); i += 2 {
		field, value := entry.Content[i], entry.Content[i+1]
		if err := k.parseField(field, value, seen); err != nil {
			return fmt.Errorf("line %d: %w", field.Line, err)
		}
	}
	if !k.given {
		return fmt.Errorf("line %d: this entry has neither key nor key_hash", entry.Line)
	}
	if err := checkLimits(k.limits); err != nil {
		return fmt.Errorf("line %d: %w", entry.Line, err)
	}
	return nil
}

func (k *fileKey) parseField(field, value *yaml.Node, seen map[string]bool) error {
	if seen[field.Value] {
		return errors.New("this field is given twice")
	}
	seen[field.Value] = true
	if field.Kind != yaml.ScalarNode || value.Kind != yaml.ScalarNode || value.Tag == "!!null" {
		return errors.New("expected one value behind the field")
	}
	return k.set(field.Value, value.Value)
}

var yamlLine = lazyregexp.New(`line \d+: `)

// withoutText keeps of an error of the YAML parser where it is. The rest may
// quote the file: of an unquoted key that begins with an asterisk, all of it.
func withoutText(err error) error {
	return fmt.Errorf("%sthis is not YAML; a key with signs such as * & ! : # goes into single quotes", yamlLine().FindString(err.Error()))
}
