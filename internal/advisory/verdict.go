package advisory

import (
	"slices"
	"strings"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Verdict is what is known of the components that a runtime is made of.
type Verdict struct {
	Components []Component
	Findings   []Finding
}

// Judge checks components.
func Judge(components ...Component) Verdict {
	v := Verdict{Components: components}
	for _, c := range components {
		v.Findings = append(v.Findings, Check(c)...)
	}
	return v
}

// Warnings has a sentence for each hole that a container has: image tells whether its
// root is an image, and not the host's toolchains.
func (v Verdict) Warnings(image bool) (warnings []string) {
	for _, f := range v.Findings {
		if image || !f.ImageOnly {
			warnings = append(warnings, f.String())
		}
	}
	return warnings
}

// Refuse returns an [*sandbox.UnsupportedError] when a container would have a known
// hole, or when the version of something that is on the list cannot be read.
func (v Verdict) Refuse(image bool) error {
	refused := &sandbox.UnsupportedError{What: "a version without known holes"}
	if warnings := v.Warnings(image); len(warnings) > 0 {
		refused.Reason = strings.Join(warnings, "; ")
		refused.Mend = capital(v.mend(image)) + "; or allow it: SANDBOX_STRICT_VERSIONS=false"
		return refused
	}
	for _, c := range v.Components {
		if c.Name != linux && c.listed() && upstream(c.Version) == "" {
			refused.Reason = "the version of " + c.Name + " cannot be read"
			refused.Mend = "Repair what it says of itself, or allow it: SANDBOX_STRICT_VERSIONS=false"
			return refused
		}
	}
	return nil
}

// Mechanism is the verdict as a line of what doctor shows.
func (v Verdict) Mechanism() sandbox.Mechanism {
	m := sandbox.Mechanism{Name: "versions", State: api.Enforced}
	if len(v.Findings) > 0 {
		m.State, m.Detail, m.Mend = api.Degraded, strings.Join(v.Warnings(true), "; "), v.mend(true)
		return m
	}
	var fine, silent []string
	for _, c := range v.Components {
		if c.listed() && upstream(c.Version) != "" {
			fine = append(fine, c.Name+" "+c.Version)
		} else {
			silent = append(silent, c.Name)
		}
	}
	var parts []string
	if len(fine) > 0 {
		parts = append(parts, "no known hole in "+strings.Join(fine, ", "))
	}
	if len(silent) > 0 {
		m.State = api.Absent
		parts = append(parts, "its version tells nothing: "+strings.Join(silent, ", "))
	}
	m.Detail = strings.Join(parts, "; ")
	return m
}

// mend is what to do about all of it, each step once. What mends the last hole of a
// component mends those before.
func (v Verdict) mend(image bool) string {
	steps := map[string]string{}
	var order []string
	for _, f := range v.Findings {
		if f.ImageOnly && !image {
			continue
		}
		if steps[f.Component] == "" {
			order = append(order, f.Component)
			steps[f.Component] = f.Mend
		}
	}
	for i, name := range order {
		order[i] = steps[name]
	}
	return strings.Join(order, "; ")
}

// listed tells whether the list has anything on a component of this name.
func (c Component) listed() bool {
	return slices.ContainsFunc(list, func(a advisory) bool { return a.component == c.Name })
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
