package remote

import (
	"slices"
	"strings"
	"testing"
)

func TestParseEndpoints(t *testing.T) {
	got, err := ParseEndpoints(" https://a.example#eu,https://b.example:8443/sandbox  unix:///run/s.sock#here\n")
	want := []Endpoint{{"https://a.example", "eu"}, {"https://b.example:8443/sandbox", ""}, {"unix:///run/s.sock", "here"}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	for list, why := range map[string]string{
		"":                          "no server is named",
		" , ":                       "no server is named",
		"a.example":                 "server 1: its URL is none of",
		"https://":                  "server 1: its URL is none of",
		"ftp://a.example":           "server 1: its URL is none of",
		"https://u:secret@a":        "user name",
		"https://a?key=secret":      "without ?",
		"https://a#":                "nothing behind its #",
		"https://a#e/u":             "a region is",
		"https://a.example b":       "server 2: ",
		"unix://host/path":          "none of",
		"https://a#" + longRegion(): "a region is",
	} {
		if _, err := ParseEndpoints(list); err == nil || !strings.Contains(err.Error(), why) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v, want %q", list, err, why)
		}
	}
}

func longRegion() string { return strings.Repeat("x", 64) }

func TestOptionsThatCannotBeMeant(t *testing.T) {
	one := []Endpoint{{URL: "http://127.0.0.1:1"}}
	for why, o := range map[string]Options{
		"no other server is named": {},
		"no key does":              {Endpoints: one, APIKey: NewSecret("two\nlines")},
		"a region is":              {Endpoints: one, Region: "e u"},
		"cannot take":              {Endpoints: one, DialTimeout: -1},
		"are the most":             {Endpoints: make([]Endpoint, 100)},
		"read the key":             {Endpoints: one, APIKeyFile: "/no/such/file"},
	} {
		if _, err := New(t.Context(), o); err == nil || !strings.Contains(err.Error(), why) || strings.Contains(err.Error(), "lines") {
			t.Errorf("%s: %v", why, err)
		}
	}
}
