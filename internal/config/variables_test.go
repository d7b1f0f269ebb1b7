package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/executor/policy"
)

func TestPythonIndex(t *testing.T) {
	c, _, err := Load([]string{"SANDBOX_PYTHON_INDEX=http://127.0.0.1:3141/simple"})
	if err != nil || c.PythonIndex != "http://127.0.0.1:3141/simple" {
		t.Errorf("%q, %v", c.PythonIndex, err)
	}
	if c := Default(); c.PythonIndex != "https://pypi.org/simple" {
		t.Errorf("the default is %q", c.PythonIndex)
	}
	_, err = LoadStrict([]string{"SANDBOX_PYTHON_INDEX=https://user:secret@example.org/simple"})
	if err == nil || !strings.Contains(err.Error(), "SANDBOX_PYTHON_INDEX: ") || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
}

func TestImportPolicy(t *testing.T) {
	for value, want := range map[string]policy.Mode{"": "", "true": policy.Block, "warn": policy.Warn, "false": policy.Off} {
		c, _, err := Load([]string{"SANDBOX_BLOCK_DANGEROUS_IMPORTS=" + value})
		if err != nil || c.Imports != want || c.BlockedImports != nil {
			t.Errorf("%q: %q, %v, %v", value, c.Imports, c.BlockedImports, err)
		}
	}
	c, _, err := Load([]string{"SANDBOX_BLOCKED_IMPORTS=os, go:os/exec"})
	if want := []policy.Rule{{Module: "os"}, {Language: "go", Module: "os/exec"}}; err != nil || !slices.Equal(c.BlockedImports, want) {
		t.Errorf("%v, %v", c.BlockedImports, err)
	}
}
