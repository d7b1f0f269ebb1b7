package packages

import (
	"errors"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"requests":                            "requests",
		" Requests \t":                        "requests",
		"Foo._-Bar":                           "foo-bar",
		"requests==2.32.3":                    "requests==2.32.3",
		"requests == 2.32.3":                  "requests==2.32.3",
		"requests (>=2, <3)":                  "requests<3,>=2",
		"a<3,>=2,<3":                          "a<3,>=2",
		"a~=1.4.2":                            "a~=1.4.2",
		"a==1.*":                              "a==1.*",
		"a!=1.5.*":                            "a!=1.5.*",
		"a===weird-1_2":                       "a===weird-1_2",
		"a==1!2.0rc1.post2.dev3+ubuntu.1":     "a==1!2.0rc1.post2.dev3+ubuntu.1",
		"a==2.0-1":                            "a==2.0-1",
		"requests[socks,Use_Chardet,socks]>1": "requests[socks,use-chardet]>1",
		"a[]":                                 "a",
		"a;python_version<'3.13'":             `a ; python_version < "3.13"`,
		`a==1 ; "linux" in sys_platform`:      `a==1 ; "linux" in sys_platform`,
		`a;os_name not  in 'a"b'`:             `a ; os_name not in 'a"b'`,
		`a;(os_name=="x" or extra=='y')and os_name!=''`: `a ; (os_name == "x" or extra == "y") and os_name != ""`,
	} {
		got, err := Parse(text)
		if err != nil || got.String() != want {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
}

// Each of these is a line that pip would obey, or nearly one.
func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    "empty",
		" ":                                   "empty",
		"--index-url http://169.254.169.254/": "is an option",
		"--extra-index-url=http://evil.test/": "is an option",
		"-i http://evil.test/":                "is an option",
		"-f file:///etc":                      "is an option",
		"-r /etc/passwd":                      "is an option",
		"-c constraints.txt":                  "is an option",
		"-e .":                                "is an option",
		" --trusted-host evil.test":           "is an option",
		"a --config-settings=x=y":             "option behind the package",
		"a==1 --hash=sha256:00":               "option behind the package",
		"a[b]\t--global-option=x":             "option behind the package",
		".":                                   "is a path",
		"./a":                                 "is a path",
		"../a":                                "is a path",
		"/etc/passwd":                         "is a path",
		`C:\a`:                                "is a path",
		"dist/a-1-py3-none-any.whl":           "is a path",
		"a @ file:///etc/passwd":              "names an address",
		"a @ file:/etc/passwd":                "names an address",
		"a@http://127.0.0.1/x.whl":            "names an address",
		"git+ssh://git@evil.test/a":           "names an address",
		"a @ git+https://evil.test/a@main":    "names an address",
		"https://evil.test/a.whl":             "names an address",
		"a @ ./b":                             "after @",
		"a @ b":                               "after @",
		"a==${SECRET}":                        "holds a $",
		"$HOME":                               "holds a $",
		"a # comment":                         "comment",
		"# comment":                           "comment",
		`a \`:                                 "another line",
		"a\nb":                                "one line",
		"a\x00":                               "one line",
		"a\r--index-url=x":                    "one line",
		"bücher":                              "printable ASCII",
		"a\u202eb":                            "printable ASCII",
		"a==1\x7f":                            "printable ASCII",
		strings.Repeat("a", maxLength+1):      "at most 1024",
		"a b":                                 "does not belong",
		"a,b":                                 "does not belong",
		"a==1 b==2":                           "does not belong",
		"a==":                                 "no version",
		"a=1":                                 "does not belong",
		"a>=1,":                               "missing after the comma",
		"a==x":                                "not a version",
		"a>=1.*":                              "takes no .*",
		"a==1.*.*":                            "not a version",
		"a===b@c":                             "not a version",
		"a(>=1":                               "not closed",
		"a[b":                                 "not closed",
		"a[,b]":                               "no name",
		"a[b] c":                              "does not belong",
		"_a":                                  "name of a package",
		"a;":                                  "no variable",
		"a;x=='1'":                            "no variable",
		"a;os_name":                           "with nothing",
		"a;os_name=='x":                       "not closed",
		"a;(os_name=='x'":                     "not closed",
		`a;os_name=='\x'`:                     "backslash",
		"a;os_name=='x' b":                    "does not belong",
		"a;" + strings.Repeat("(", 17) + "os_name": "too many parentheses",
	} {
		got, err := Parse(text)
		if err == nil {
			t.Errorf("%q is taken for %q", text, got)
			continue
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
}

func TestParseAll(t *testing.T) {
	got, err := ParseAll([]string{"b", "A", "a", "b>1"})
	if err != nil || len(got) != 3 || got[0].Name != "a" || got[1].String() != "b" || got[2].String() != "b>1" {
		t.Errorf("%v, %v", got, err)
	}
	for want, list := range map[int][]string{1: {"a", "-r x", "b"}, -1: make([]string, MaxRequirements+1)} {
		_, err := ParseAll(list)
		var wrong *ListError
		if !errors.As(err, &wrong) || wrong.Index != want || wrong.Detail == "" {
			t.Errorf("%v, want the place %d", err, want)
		}
	}
}

// What is accepted is canonical, one line, no option, and means itself.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"requests[socks]>=2,<3;python_version<'3'", "-r x", "a @ file:///x", "a===x", "a;(os_name=='x')and'a'in extra", "a (==1)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Parse(text)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x1b\x00") {
				t.Errorf("%q: %q", text, err)
			}
			return
		}
		canonical := r.String()
		again, err := Parse(canonical)
		if err != nil || again.String() != canonical {
			t.Errorf("%q gives %q, which gives %q, %v", text, canonical, again, err)
		}
		if strings.HasPrefix(canonical, "-") || strings.ContainsAny(canonical, "\n\x00$#@\\") || strings.Contains(canonical, "://") || Normalise(r.Name) != r.Name {
			t.Errorf("%q gives %q", text, canonical)
		}
	})
}
