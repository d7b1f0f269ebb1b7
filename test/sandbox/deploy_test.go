package sandbox

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

// exported are the metrics of a server that has run something, and their labels.
func exported(t *testing.T) (names, labels map[string]bool) {
	t.Helper()
	shared.run(t, api.Request{Language: "bash", Code: "true"})
	names, labels = map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(string(shared.send(t, "GET", "/metrics", nil).body)) {
		if m := regexp.MustCompile(`^(\w+)(?:\{(.*)\})? `).FindStringSubmatch(line); m != nil {
			names[m[1]] = true
			for _, label := range regexp.MustCompile(`(\w+)="`).FindAllStringSubmatch(m[2], -1) {
				labels[label[1]] = true
			}
		}
	}
	return names, labels
}

// The dashboard and the alerts ask for figures that there are.
func TestDeployedFigures(t *testing.T) {
	names, labels := exported(t)
	labels["instance"], labels["job"] = true, true // Prometheus adds them
	for file, queries := range map[string][]string{
		"deploy/grafana-dashboard.json": dashboardQueries(t, testenv.ReadFile(t, "deploy/grafana-dashboard.json")),
		"deploy/prometheus-alerts.yaml": alertQueries(t, testenv.ReadFile(t, "deploy/prometheus-alerts.yaml")),
	} {
		if len(queries) < 4 {
			t.Errorf("%s has only %d queries", file, len(queries))
		}
		for _, query := range queries {
			query = regexp.MustCompile(`"[^"]*"`).ReplaceAllString(query, "") // values
			for _, name := range regexp.MustCompile(`\b(?:sandbox|process|go)_\w+`).FindAllString(query, -1) {
				if !names[name] {
					t.Errorf("%s asks for %s, which the server does not have", file, name)
				}
			}
			for _, label := range labelsOf(query) {
				if !labels[label] {
					t.Errorf("%s asks for the label %s, which no figure has: %s", file, label, query)
				}
			}
		}
	}
}

// labelsOf are the labels that a query selects or groups by.
func labelsOf(query string) (labels []string) {
	for _, list := range regexp.MustCompile(`(?:by|without|on) ?\(([^)]*)\)|\{([^}]*)\}`).FindAllStringSubmatch(query, -1) {
		labels = append(labels, regexp.MustCompile(`\w+`).FindAllString(list[1]+list[2], -1)...)
	}
	return labels
}

func dashboardQueries(t *testing.T, text string) (queries []string) {
	t.Helper()
	for _, p := range decode[struct {
		Panels []struct {
			Title   string `json:"title"`
			Targets []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
	}](t, []byte(text)).Panels {
		if p.Title == "" || len(p.Targets) == 0 {
			t.Errorf("panel %q has %d queries", p.Title, len(p.Targets))
		}
		for _, target := range p.Targets {
			queries = append(queries, target.Expr)
		}
	}
	return queries
}

func alertQueries(t *testing.T, text string) (queries []string) {
	t.Helper()
	var rules struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	decoder := yaml.NewDecoder(strings.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&rules); err != nil {
		t.Fatal(err)
	}
	for _, group := range rules.Groups {
		for _, rule := range group.Rules {
			if rule.Alert == "" || rule.Expr == "" || rule.For == "" || rule.Labels["severity"] == "" || rule.Annotations["summary"] == "" {
				t.Errorf("the rule says too little: %+v", rule)
			}
			queries = append(queries, rule.Expr)
		}
	}
	return queries
}

// systemd finds nothing wrong with the unit.
func TestUnit(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	unit := filepath.Join(t.TempDir(), "sandbox-server.service")
	text := strings.Replace(testenv.ReadFile(t, "deploy/sandbox-server.service"), "/usr/local/bin/sandbox-server", binary, 1)
	if err := os.WriteFile(unit, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("systemd-analyze", "verify", unit).CombinedOutput(); err != nil || len(bytes.TrimSpace(out)) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}
