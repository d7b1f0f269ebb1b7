package server

import (
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Who asks for the strongest walls has the operator's at least; who names weaker ones has none.
func TestLevel(t *testing.T) {
	const auto, full, restricted, none = sandbox.LevelAuto, sandbox.LevelFull, sandbox.LevelRestricted, sandbox.LevelNone
	for _, c := range []struct{ own, asked, want sandbox.Level }{
		{"", "", auto}, {"", auto, auto}, {"", full, full}, {"", restricted, ""}, {"", none, ""}, {"", "weak", ""},
		{full, "", full}, {full, auto, full}, {full, full, full}, {full, restricted, ""},
		{restricted, auto, auto}, {restricted, restricted, restricted}, {restricted, full, full}, {restricted, none, ""},
		{none, "", none}, {none, auto, auto}, {none, none, none},
	} {
		s := &Server{Options: Options{Isolation: c.own}}
		got, err := s.level(c.asked)
		if c.want == "" && err == nil || c.want != "" && (err != nil || got != c.want) {
			t.Errorf("%q asked of %q: %q, %v", c.asked, c.own, got, err)
		}
	}
}
