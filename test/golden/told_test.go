package golden

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"sluice/internal/model"
	"sluice/internal/pcre"
	"sluice/internal/translate"
)

// mostUntold is how many of a hundred patterns package pcre may not tell of.
const mostUntold = 2

// Package pcre does not match all patterns that PCRE2 does. Of the patterns of these
// cases and of those recorded from ingress-nginx it has to tell nearly all, whatever
// path they are tried on.
func TestPatternsAreTold(t *testing.T) {
	t.Parallel()
	tried := map[string][]string{} // paths, by pattern
	files, err := filepath.Glob("cases/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		readCase(t, file).patterns(t, tried)
	}
	recordedPatterns(t, tried)
	var untold []string
	for pattern, paths := range tried {
		if !tells(pattern, paths) {
			untold = append(untold, pattern)
		}
	}
	slices.Sort(untold)
	told := len(tried) - len(untold)
	t.Logf("%d of %d distinct patterns are told (%.1f %%); not told: %.100q", told, len(tried), 100*float64(told)/float64(len(tried)), untold)
	if len(tried) < 150 || 100*len(untold) > mostUntold*len(tried) {
		t.Errorf("want at least 150 patterns, and at most %d of 100 that are not told", mostUntold)
	}
}

// patterns collects those that nginx gets for a case, with the paths of its requests.
func (c *testCase) patterns(t *testing.T, tried map[string][]string) {
	objects := c.manifests(t).Objects
	snap, _ := c.snapshot(t, objects)
	config, _ := translate.Config(snap, c.options(t, objects), nil)
	var paths []string
	if _, ok := c.section("requests"); ok {
		for _, r := range c.requests(t) {
			if parsed, err := url.ParseRequestURI(r.uri); err == nil {
				paths = append(paths, parsed.Path)
			}
		}
	}
	add := func(pattern string) { tried[pattern] = append(tried[pattern], paths...) }
	for _, server := range config.Static.Servers {
		for _, l := range server.Locations {
			if l.Modifier == model.Pattern {
				add(l.Path)
			}
			if l.Rewrite != nil {
				add(l.Rewrite.Pattern)
			}
		}
		for _, alias := range server.Aliases {
			if pattern, ok := strings.CutPrefix(alias, "~"); ok {
				add(pattern)
			}
		}
	}
}

// recordedPatterns collects the paths of the recorded cases that are patterns.
func recordedPatterns(t *testing.T, tried map[string][]string) {
	files, err := filepath.Glob("../compat/testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no recorded cases", err)
	}
	for _, file := range files {
		var recorded struct {
			Cases []struct {
				Ingresses []struct{ Paths []string }
				Requests  []any
			}
		}
		text, err := os.ReadFile(file)
		if err == nil {
			err = yaml.Unmarshal(text, &recorded)
		}
		if err != nil {
			t.Fatal(file, err)
		}
		for _, c := range recorded.Cases {
			var paths []string
			for _, r := range c.Requests {
				if path, ok := r.(string); ok {
					paths = append(paths, path)
				}
			}
			for _, ing := range c.Ingresses {
				for _, rule := range ing.Paths {
					if path, rest, _ := strings.Cut(rule, " "); strings.HasPrefix(rest, "Impl") {
						tried["^"+path] = append(tried["^"+path], paths...)
					}
				}
			}
		}
	}
}

// tells reports whether package pcre says of a pattern what PCRE2 does with some
// paths and with those that begin as it does.
func tells(pattern string, paths []string) bool {
	compiled, err := pcre.Compile(pattern, pcre.Caseless)
	var refused *pcre.SyntaxError
	if err != nil {
		return errors.As(err, &refused)
	}
	lead := pcre.Beginning(strings.TrimPrefix(strings.TrimPrefix(pattern, "(?i)"), "^"))
	for _, path := range append(paths, lead, lead+"/", lead+"/x/1", lead+"x-1") {
		if _, _, err := compiled.Match(path); err != nil {
			return false
		}
	}
	return true
}
