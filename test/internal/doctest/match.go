package doctest

import (
	"regexp"
	"strings"
)

// matches tells whether a command printed what the page says.
func matches(want, got string) bool {
	var pattern strings.Builder
	for _, line := range outputLines(want) {
		if strings.TrimSpace(line) == "…" {
			pattern.WriteString(`(.*\n)*`)
			continue
		}
		parts := strings.Split(line, "…")
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		pattern.WriteString(strings.Join(parts, `.*`) + `\n`)
	}
	text := ""
	for _, line := range outputLines(got) {
		text += line + "\n"
	}
	return regexp.MustCompile(`\A` + pattern.String() + `\z`).MatchString(text)
}

// free are the parts of sandbox-run's own lines that differ from run to run.
var free = []struct {
	line, part *regexp.Regexp
}{
	{regexp.MustCompile(`^── [a-z]+ \d\S*$`), regexp.MustCompile(` \d\S*$`)},
	{regexp.MustCompile(`^── .* · isolation `), regexp.MustCompile(`\d+(\.\d+)? ([mµ]?s|B|[KMG]iB)\b`)},
	{regexp.MustCompile(`^── limit `), regexp.MustCompile(`reached \S+ \S+`)},
}

// outputLines are the lines of an output without what is free, and without blank
// ones at its end. A terminal ends them with a carriage return too.
func outputLines(text string) (lines []string) {
	for line := range strings.Lines(strings.TrimRight(strings.ReplaceAll(text, "\r\n", "\n"), "\n")) {
		line = strings.TrimSuffix(line, "\n")
		for _, f := range free {
			if f.line.MatchString(line) {
				line = f.part.ReplaceAllString(line, "#")
			}
		}
		if !strings.HasPrefix(line, "── warning: limits: ") {
			lines = append(lines, line)
		}
	}
	return lines
}
