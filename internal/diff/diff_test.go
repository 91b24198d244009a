package diff

import (
	"bytes"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"sluice/internal/explain"
	"sluice/internal/manifest/decode"
	"sluice/internal/render"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
	"sluice/templates"
)

var update = flag.Bool("update", false, "write the expectations of testdata anew")

// environment is that of a machine with everything.
var environment = render.Environment{
	HTTPPort: 80, HTTPSPort: 443, Workers: 1, OpenFiles: 1 << 20, MostOpenFiles: 1 << 20, StateDir: "/s", Lua: "/s/lua", Token: "TOKEN",
	Capabilities: render.Capabilities{HTTP2Directive: true, HTTP3: true, StubStatus: true, Stream: true, SSLPreread: true, StreamRealIP: true, HeadersMore: true},
}

// sideOf returns a side of objects, in an order by chance.
func sideOf(t testing.TB, objects snapshot.Objects, random *rand.Rand) Side {
	t.Helper()
	set, err := render.Load(templates.Files)
	if err != nil {
		t.Fatal(err)
	}
	if random != nil {
		random.Shuffle(len(objects.Ingresses), func(i, j int) {
			objects.Ingresses[i], objects.Ingresses[j] = objects.Ingresses[j], objects.Ingresses[i]
		})
	}
	options := translate.Options{
		IngressClasses: []string{"nginx"}, ControllerClass: "k8s.io/ingress-nginx", ManifestMode: true, AnnotationsPrefix: "nginx.ingress.kubernetes.io", HTTPSPort: 443, Passthrough: true,
		ConfigMap: snapshot.Name{Namespace: "sluice", Name: "settings"}, TCPServices: snapshot.Name{Namespace: "sluice", Name: "tcp"},
	}
	snap, problems := snapshot.New(objects)
	config, more := translate.Config(snap, options, nil)
	file, unprintable := set.Render(config.Static, environment, nil)
	problems = append(append(problems, more...), unprintable...)
	return Side{Input: explain.Input{Snapshot: snap, Options: options, Config: config, Problems: problems}, File: file}
}

func objectsOf(t testing.TB, name string, text []byte) snapshot.Objects {
	t.Helper()
	var reader decode.Reader
	objects, _, err := reader.Read(name, text)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// compared compares the two sides of a case.
func compared(t testing.TB, sections map[string][]byte, random *rand.Rand) *Result {
	t.Helper()
	base, err := os.ReadFile("testdata/base.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if own := sections["base.yaml"]; own != nil {
		base = own
	}
	both := append(append([]byte("---\n"), sections["both.yaml"]...), append([]byte("\n---\n"), base...)...)
	of := func(name string) Side {
		return sideOf(t, objectsOf(t, name, append(append([]byte{}, sections[name]...), append([]byte("\n"), both...)...)), random)
	}
	return Compare(of("old.yaml"), of("new.yaml"))
}

// Each case is a sentence, the manifests of both sides, and the result as text. Some have
// it as Markdown or JSON, too.
func TestCases(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) < 10 {
		t.Fatalf("%d cases: %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			sections := map[string][]byte{}
			for _, f := range archive.Files {
				sections[f.Name] = f.Data
			}
			result := compared(t, sections, nil)
			for i, f := range archive.Files {
				got := shown(t, result, f.Name)
				if got == nil {
					continue
				}
				if *update {
					archive.Files[i].Data = got
				} else if diff := cmp.Diff(string(f.Data), string(got)); diff != "" {
					t.Errorf("%s, -want +got:\n%s", f.Name, diff)
				}
			}
			if *update {
				if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			shuffled := compared(t, sections, rand.New(rand.NewPCG(1, 2)))
			if diff := cmp.Diff(string(shown(t, result, "json")), string(shown(t, shuffled, "json"))); diff != "" {
				t.Errorf("the order of objects counts:\n%s", diff)
			}
		})
	}
}

// shown returns a result in a form, nil if the name is none of a form.
func shown(t *testing.T, r *Result, form string) []byte {
	t.Helper()
	var out bytes.Buffer
	var err error
	switch form {
	case "text":
		err = r.WriteText(&out)
	case "markdown":
		err = r.WriteMarkdown(&out)
	case "json":
		encoder := json.NewEncoder(&out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(r)
	default:
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
