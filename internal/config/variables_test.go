package config

import (
	"strings"
	"testing"
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
