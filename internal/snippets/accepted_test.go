package snippets_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	corev1 "k8s.io/api/core/v1"

	"sluice/internal/annotations"
	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/snippets"
)

const prefix = "nginx.ingress.kubernetes.io"

// awaited are names of annotations that no behaviour reads yet.
var awaited = []string{}

// bare returns the name of an annotation without a prefix.
func bare(name string) string {
	return strings.TrimPrefix(strings.TrimPrefix(name, snippets.OwnPrefix), "paths.")
}

// TestAwaitedAreNotReadYet: an annotation that has become real is checked.
func TestAwaitedAreNotReadYet(t *testing.T) {
	t.Parallel()
	for _, name := range awaited {
		if annotations.IsRead(name) {
			t.Errorf("%s is read now: remove it here", name)
		}
	}
}

// accepted fails the test unless each annotation of the advice is one line of YAML, and
// Sluice takes it.
func accepted(t *testing.T, s snippets.Snippet) {
	t.Helper()
	advice, err := snippets.Read(s)
	if err != nil {
		return
	}
	groups := map[string]map[string]string{}
	for _, a := range advice.Write {
		line := a.String(prefix + "/")
		key := a.Name
		if !strings.HasPrefix(key, snippets.OwnPrefix) {
			key = prefix + "/" + key
		}
		var read map[string]string
		if err := yaml.UnmarshalStrict([]byte(line), &read); err != nil || !maps.Equal(read, map[string]string{key: a.Value}) {
			t.Errorf("%q: %s is read as %v: %v", s.Text, line, read, err)
		}
		if model.OneLine(line, len(line)) != line {
			t.Errorf("%q: %q is not one printable line", s.Text, line)
		}
		if name := bare(a.Name); slices.Contains(awaited, name) {
			continue
		} else if !annotations.IsRead(name) {
			t.Errorf("%q: no annotation has the name %s", s.Text, a.Name)
		}
		if groups[a.Where] == nil {
			groups[a.Where] = map[string]string{}
		}
		groups[a.Where][key] = a.Value
		for step := range strings.SplitSeq(a.Also, ", ") {
			if name, ok := strings.CutPrefix(step, "beside "); ok {
				groups[a.Where][prefix+"/"+name] = map[string]string{"auth-url": "http://auth.example/", "enable-modsecurity": "true"}[name] + map[string]string{"proxy-ssl-secret": "shop/tls", "auth-tls-secret": "shop/ca"}[name]
			}
		}
	}
	for _, given := range groups {
		for _, problem := range problemsOf(s, given) {
			t.Errorf("%q: %s", s.Text, problem)
		}
	}
}

// problemsOf reads annotations, on paths that those for single paths name. It leaves out
// Problems of annotations that need others.
func problemsOf(s snippets.Snippet, given map[string]string) []model.Problem {
	// Some advice is a snippet of ModSecurity.
	defaults, _ := settings.Read(&corev1.ConfigMap{Data: map[string]string{"allow-snippet-annotations": "true", "annotations-risk-level": "Critical"}})
	paths := slices.Clone(s.Paths)
	for name, value := range given {
		if strings.HasPrefix(name, annotations.PathsPrefix) {
			for line := range strings.SplitSeq(value, "\n") {
				path, _, _ := strings.Cut(line, ": ")
				paths = append(paths, path)
			}
		}
	}
	a := annotations.Of(annotations.Source{Given: given, Paths: slices.Values(paths)}, defaults, prefix)
	return slices.DeleteFunc(a.Problems(), func(p model.Problem) bool { return p.Reason == model.NoEffect })
}

func TestAccepted(t *testing.T) {
	t.Parallel()
	for _, s := range corpus(t) {
		accepted(t, s)
	}
}

// corpus returns the snippets of the corpus, each for a location and for a server.
func corpus(t testing.TB) (all []snippets.Snippet) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range txtar.Parse(text).Files {
			if file.Name != "advice" {
				all = append(all, snippets.Snippet{Text: string(file.Data), Paths: []string{"/"}}, snippets.Snippet{Text: string(file.Data), Paths: []string{"/"}, Server: true})
			}
		}
	}
	return all
}

// TestSettingsExist: each setting that a text names is one of Sluice.
func TestSettingsExist(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, doc := range keys.Describe(settings.Settings{}) {
		known[doc.Key] = true
	}
	for _, s := range corpus(t) {
		advice, _ := snippets.Read(s)
		for _, left := range advice.Left {
			name, rest, _ := strings.Cut(strings.TrimPrefix(left.Text, "want the setting "), " ")
			if rest != "" && strings.HasPrefix(left.Text, "want the setting ") && !known[strings.TrimSuffix(name, ":")] {
				t.Errorf("%s: there is no setting %s", left.Text, name)
			}
		}
	}
}

// FuzzRead holds that advice about any text is one line of YAML each, which Sluice takes.
func FuzzRead(f *testing.F) {
	for _, s := range corpus(f) {
		f.Add(s.Text, s.Server)
	}
	for _, hostile := range []string{"a: b\n- c", "\"", "'", "\\", "\u2028", "{{", "${x}", "#", "=>", "~", "\x01", "é"} {
		f.Add("add_header X-A "+strconv.Quote(hostile)+";sub_filter "+strconv.Quote(hostile)+" b;", false)
		f.Add("location "+strconv.Quote("/"+hostile)+"{deny all;proxy_read_timeout 3;}", true)
		f.Add("return 301 "+strconv.Quote("https://a/"+hostile)+";", false)
		f.Add("if ($http_x = "+strconv.Quote(hostile)+"){return 403;}", false)
	}
	f.Fuzz(func(t *testing.T, text string, server bool) {
		accepted(t, snippets.Snippet{Text: text, Server: server, Paths: []string{"/"}})
	})
}
