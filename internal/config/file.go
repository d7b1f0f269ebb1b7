package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/sandbox-run/sandbox-run/internal/nearest"
)

// maxFileBytes is far above any honest configuration file.
const maxFileBytes = 1 << 20

// loadFile reads the configuration file at path into c.
func loadFile(c *Config, vars []Variable, path string) error {
	data, err := readFile(path)
	if err != nil {
		return fmt.Errorf("%s: cannot read the configuration file: %w", fileVariable, err)
	}
	if err := parseFile(c, vars, data); err != nil {
		return fmt.Errorf("%s (%s): %w", path, fileVariable, err)
	}
	return nil
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if len(data) > maxFileBytes {
		err = fmt.Errorf("%s is larger than 1 MiB", path)
	}
	return data, err
}

// parseFile reads a flat YAML mapping into c.
func parseFile(c *Config, vars []Variable, data []byte) error {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return err
	}
	if len(doc.Content) == 0 { // an empty file, or only comments
		return nil
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return errors.New("expected lines of the form key: value")
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, value := root.Content[i], root.Content[i+1]
		if seen[key.Value] {
			return fmt.Errorf("line %d: %s is given twice", key.Line, key.Value)
		}
		seen[key.Value] = true
		if err := setKey(c, vars, key.Value, value); err != nil {
			return fmt.Errorf("line %d: %w", key.Line, err)
		}
	}
	return nil
}

func setKey(c *Config, vars []Variable, key string, value *yaml.Node) error {
	var keys []string
	for _, v := range append(vars, otherImages([]string{prefix + strings.ToUpper(key)})...) {
		keys = append(keys, v.Key())
		if v.Key() != key {
			continue
		}
		if value.Kind != yaml.ScalarNode || value.Tag == "!!null" {
			return fmt.Errorf("%s: expected one value", key)
		}
		if err := v.set(c, value.Value); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		return nil
	}
	if near := nearest.Words(key, keys); len(near) > 0 {
		return fmt.Errorf("%q is not a setting: did you mean %s?", key, near[0])
	}
	return fmt.Errorf("%q is not a setting", key)
}
