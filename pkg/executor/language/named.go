package language

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ParseNamed reads a file that names toolchains, for [Host.Named]: a YAML
// mapping from a language, with or without a version, to a program.
//
//	python: ~/work/python/bin/python3
//	python@3.12: /opt/py/bin/python3
//
// Aliases become names. Paths are absolute or start with ~/. Errors tell the
// line.
func ParseNamed(data []byte) (map[string]string, error) {
	var document yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		return map[string]string{}, nil
	case err != nil:
		return nil, err
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one YAML document")
	}
	mapping := document.Content[0]
	if mapping.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: expected lines such as python@3.12: /opt/python/bin/python3", mapping.Line)
	}
	named := make(map[string]string)
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key, value := mapping.Content[i], mapping.Content[i+1]
		name, err := namedKey(key)
		if err == nil && named[name] != "" {
			err = fmt.Errorf("%s is named twice", name)
		}
		if err == nil {
			err = checkNamedProgram(name, value)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", key.Line, err)
		}
		named[name] = value.Value
	}
	return named, nil
}

// namedKey is language or language@version, with aliases resolved.
func namedKey(key *yaml.Node) (string, error) {
	lang, version, err := Lookup(key.Value)
	if err != nil {
		return "", err
	}
	name := lang.Info().Name
	switch {
	case name == "typescript":
		return "", errors.New("typescript runs with Node.js; name javascript instead, it counts for both")
	case version == "":
		return name, nil
	default:
		return name + "@" + version, nil
	}
}

func checkNamedProgram(name string, value *yaml.Node) error {
	if value.Kind != yaml.ScalarNode || value.Tag != "!!str" {
		return fmt.Errorf("%s needs the path of a program", name)
	}
	if !filepath.IsAbs(value.Value) && !strings.HasPrefix(value.Value, "~/") {
		return fmt.Errorf("%s: the path %q must be absolute or start with ~/", name, value.Value)
	}
	return nil
}
