package reference

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	inlineLink     = regexp.MustCompile(`\]\(([^)]+)\)`)
	definedLink    = regexp.MustCompile(`(?m)^\[[^\]]+\]: (\S+)$`)
	heading        = regexp.MustCompile(`(?m)^#+ (.*)$`)
	notInAnAnchor  = regexp.MustCompile(`[^a-z0-9 _-]`)
	fencedCode     = regexp.MustCompile("(?s)```.*?```")
	readmeAndPages = []string{"README.md", "annotations.md", "configmap.md", "values.md"}
)

// TestLinksLead follows every link of the pages to its file and heading.
func TestLinksLead(t *testing.T) {
	t.Parallel()
	if *update {
		t.Skip("the pages are being written")
	}
	for _, page := range readmeAndPages {
		links := linksOf(read(t, folder+page))
		if len(links) == 0 {
			t.Errorf("%s: no links were found", page)
		}
		for _, link := range links {
			if fault := follow(page, link); fault != "" {
				t.Errorf("%s: %s: %s", page, link, fault)
			}
		}
	}
}

func TestDeadLinksAreSeen(t *testing.T) {
	t.Parallel()
	for link, dead := range map[string]bool{
		"#hsts": false, "annotations.md#enable-cors": false, "../differences.md": false, "https://nginx.org/": false,
		"#no-such-key": true, "annotations.md#hsts": true, "../no-such-page.md": true,
	} {
		if fault := follow("configmap.md", link); (fault != "") != dead {
			t.Errorf("%s: %q", link, fault)
		}
	}
	if links := linksOf("[a](b) ```[c](d)```\n[e]: f\n"); strings.Join(links, " ") != "b f" {
		t.Errorf("found %q", links)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func linksOf(text string) []string {
	text = fencedCode.ReplaceAllString(text, "")
	var links []string
	for _, m := range append(inlineLink.FindAllStringSubmatch(text, -1), definedLink.FindAllStringSubmatch(text, -1)...) {
		links = append(links, m[1])
	}
	return links
}

// follow says why a link of a page leads nowhere.
func follow(page, link string) string {
	if strings.HasPrefix(link, "https://") {
		return ""
	}
	path, anchor, hasAnchor := strings.Cut(link, "#")
	if path == "" {
		path = page
	}
	text, err := os.ReadFile(filepath.Join(folder, path))
	if info, statErr := os.Stat(filepath.Join(folder, path)); statErr == nil && info.IsDir() {
		return ""
	}
	if err != nil {
		return err.Error()
	}
	if hasAnchor && !hasHeading(string(text), anchor) {
		return "no heading has this anchor"
	}
	return ""
}

// hasHeading compares with the anchors that headings get where pages are shown:
// in lower case, with - for spaces.
func hasHeading(text, anchor string) bool {
	for _, m := range heading.FindAllStringSubmatch(fencedCode.ReplaceAllString(text, ""), -1) {
		if strings.ReplaceAll(notInAnAnchor.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-") == anchor {
			return true
		}
	}
	return false
}
