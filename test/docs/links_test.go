package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	// An anchor is made of a heading: what is not a word, a space or a hyphen is
	// left out.
	notAnchor = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// brokenLinks are the links of a page that lead to no file of the checkout, or to
// no heading of a page.
func brokenLinks(folder, text string) []string {
	var broken []string
	for _, found := range link.FindAllStringSubmatch(text, -1) {
		target, anchor, _ := strings.Cut(found[1], "#")
		if strings.Contains(target, "://") {
			continue
		}
		page := text
		if target != "" {
			content, err := os.ReadFile(filepath.Join(folder, target))
			if _, missing := os.Stat(filepath.Join(folder, target)); missing != nil {
				broken = append(broken, found[1])
				continue
			}
			if err != nil { // a folder has no headings
				content = nil
			}
			page = string(content)
		}
		if anchor != "" && !hasAnchor(page, anchor) {
			broken = append(broken, found[1])
		}
	}
	return broken
}

func hasAnchor(page, anchor string) bool {
	for _, found := range heading.FindAllStringSubmatch(page, -1) {
		if strings.ReplaceAll(notAnchor.ReplaceAllString(strings.ToLower(found[1]), ""), " ", "-") == anchor {
			return true
		}
	}
	return false
}

func TestLinks(t *testing.T) {
	t.Parallel()
	paths, err := Pages(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		for _, one := range brokenLinks(filepath.Join(root, filepath.Dir(path)), read(t, path)) {
			t.Errorf("%s: nothing is at %s", path, one)
		}
	}
	const bad = "# A head, line\n[a](nowhere.md) [b](#a-head-line) [c](#other) [d](go.mod) [e](https://example.org/x)\n"
	if got := strings.Join(brokenLinks(".", bad), " "); got != "nowhere.md #other" {
		t.Errorf("of a page with broken links these were found: %s", got)
	}
}
