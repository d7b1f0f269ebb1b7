package conventions

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDocumentationLinks holds the links of every page against the files that are
// there, and the headings that they have.
func TestDocumentationLinks(t *testing.T) {
	files := map[string]string{}
	for _, f := range mustTextFiles(t) {
		files[f.path], files[path.Dir(f.path)] = f.text, ""
	}
	for page, text := range files {
		if path.Ext(page) == ".md" {
			for _, dead := range deadLinks(page, text, files) {
				t.Errorf("%s: there is no %s", page, dead)
			}
		}
	}
}

// deadLinks are those of a page that lead nowhere in this repository.
func deadLinks(page, text string, files map[string]string) (dead []string) {
	for _, m := range regexp.MustCompile(`\]\(([^):]*)\)`).FindAllStringSubmatch(text, -1) {
		name, anchor, _ := strings.Cut(m[1], "#")
		target := page
		if name != "" {
			target = path.Join(path.Dir(page), name)
		}
		if content, there := files[target]; !there || anchor != "" && !slices.Contains(anchors(content), anchor) {
			dead = append(dead, m[1])
		}
	}
	return dead
}

// anchors are the links that GitHub gives to the headings of a page.
func anchors(page string) (found []string) {
	page = regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(page, "")
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(page, -1) {
		words := regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(strings.ToLower(heading[1]), "")
		found = append(found, strings.ReplaceAll(words, " ", "-"))
	}
	return found
}

// TestDocumentationLinksSee proves that a dead link is found.
func TestDocumentationLinksSee(t *testing.T) {
	files := map[string]string{"docs/A.md": "# A page's `name`\n\n```\n# no heading\n```\n", "docs/B.md": ""}
	text := "[a](A.md#a-pages-name) [b](C.md) [c](A.md#no-heading) [d](#none) [e](https://example.org/x)"
	if dead := deadLinks("docs/B.md", text, files); !slices.Equal(dead, []string{"C.md", "A.md#no-heading", "#none"}) {
		t.Errorf("%q", dead)
	}
}
