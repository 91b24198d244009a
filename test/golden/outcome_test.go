package golden

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/yaml"

	"sluice/internal/claim"
	"sluice/internal/lint"
	"sluice/internal/model"
	"sluice/internal/render"
	"sluice/internal/route"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
	"sluice/test/kit"
)

// outcome is what a case's manifests give.
type outcome struct {
	snap     *snapshot.Snapshot
	owners   []*claim.Object
	options  translate.Options
	config   model.Config
	file     *render.File
	problems []model.Problem
	// translated are the Problems without those of the file.
	translated []model.Problem
	// manifests are the objects for lint.
	manifests lint.Manifests
}

// printed is what the configuration of a case is compared with: the ports are
// the usual ones and nothing depends on the machine, which allows as many open
// files as Linux can have.
var printed = render.Environment{
	HTTPPort: 80, HTTPSPort: 443, IPv6: true, Workers: 1, OpenFiles: 1 << 20, MostOpenFiles: 1073741816,
	StateDir: "/var/lib/sluice", Lua: "/var/lib/sluice/lua", Token: "TOKEN",
	Capabilities: render.Capabilities{HTTP2Directive: true, HTTP3: true, StubStatus: true, Stream: true, SSLPreread: true, StreamRealIP: true, HeadersMore: true, ModSecurity: true, Brotli: true, GeoIP: true}, CoreRules: render.DebianCoreRules,
}

// workOut takes a case's objects, shuffled by the seed unless it is 0, through
// the core.
func workOut(t *testing.T, c *testCase, seed int) *outcome {
	t.Helper()
	o := modelOf(t, c, seed)
	o.print(t)
	return o
}

// workedOut is workOut for those that change nothing of it: they share one outcome.
func workedOut(t *testing.T, c *testCase) *outcome {
	t.Helper()
	text := c.text()
	if o, found := outcomes.Load(text); found {
		return o.(*outcome)
	}
	o, _ := outcomes.LoadOrStore(text, workOut(t, c, 0))
	return o.(*outcome)
}

// outcomes are those of workedOut, by all parts that make them.
var outcomes sync.Map

// text is all that the outcome of a case is made of.
func (c *testCase) text() string {
	var all strings.Builder
	for _, name := range []string{"manifests.yaml", "claims.yaml", "options", "not-served"} {
		text, _ := c.section(name)
		all.WriteString(text + "\x00")
	}
	return all.String()
}

// print makes the file.
func (o *outcome) print(t *testing.T) {
	t.Helper()
	file, unprintable := kit.Templates(t).Render(o.config.Static, printed, nil)
	o.file, o.problems = file, model.SortProblems(slices.Concat(o.translated, unprintable))
}

// modelOf is workOut without the file.
func modelOf(t *testing.T, c *testCase, seed int) *outcome {
	t.Helper()
	manifests := c.manifests(t)
	objects := manifests.Objects
	options := c.options(t, objects)
	if seed > 0 {
		shuffle(&objects, rand.New(rand.NewPCG(uint64(seed), 0)))
	}
	manifests.Objects = objects
	snap, problems := c.snapshot(t, objects)
	owners := c.owners(t, seed)
	config, more := translate.ConfigWith(snap, options, owners, nil)
	problems = model.SortProblems(slices.Concat(problems, more))
	slices.SortFunc(owners, func(a, b *claim.Object) int { return a.Created.Compare(b.Created) })
	return &outcome{snap: snap, owners: owners, options: options, config: config, translated: problems, manifests: manifests}
}

// owners are those of the section claims.yaml, shuffled by the seed unless it is 0.
func (c *testCase) owners(t *testing.T, seed int) []*claim.Object {
	t.Helper()
	text, _ := c.section("claims.yaml")
	var owners []*claim.Object
	if err := yaml.UnmarshalStrict([]byte(text), &owners); err != nil {
		t.Fatalf("claims.yaml: %v", err)
	}
	if seed > 0 {
		mix(owners, rand.New(rand.NewPCG(uint64(seed), 1)))
	}
	return owners
}

// snapshot is the cluster of a case. The Ingresses of the section not-served are left
// out, as those are that nginx refused.
func (c *testCase) snapshot(t *testing.T, objects snapshot.Objects) (*snapshot.Snapshot, []model.Problem) {
	t.Helper()
	snap, problems := snapshot.New(objects)
	left := map[snapshot.Name]*networkingv1.Ingress{}
	text, _ := c.section("not-served")
	for line := range strings.Lines(text) {
		name, err := snapshot.ParseName(strings.TrimSpace(line))
		if err != nil || snap.Ingress(name) == nil {
			t.Fatalf("not-served: want the name of an Ingress of the case (got %q)", line)
		}
		left[name] = nil
	}
	return snap.WithIngresses(left), problems
}

func shuffle(o *snapshot.Objects, random *rand.Rand) {
	mix(o.Ingresses, random)
	mix(o.IngressClasses, random)
	mix(o.Services, random)
	mix(o.EndpointSlices, random)
	mix(o.Endpoints, random)
	mix(o.Secrets, random)
	mix(o.ConfigMaps, random)
	mix(o.Namespaces, random)
}

func mix[T any](list []T, random *rand.Rand) {
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

// options are the flags of the controller that a case runs with. A ConfigMap
// sluice/config, if there is one, holds the settings.
func (c *testCase) options(t *testing.T, objects snapshot.Objects) translate.Options {
	t.Helper()
	o := kit.Options(t)
	for _, m := range objects.ConfigMaps {
		if m.Namespace == "sluice" && m.Name == "config" {
			o.ConfigMap = snapshot.Name{Namespace: "sluice", Name: "config"}
		}
	}
	text, _ := c.section("options")
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if err := set(&o, key, value); err != nil {
			t.Fatalf("options: %v", err)
		}
	}
	return o
}

// set takes one line of the section options.
func set(o *translate.Options, key, value string) (err error) {
	switch key {
	case "default-backend":
		o.DefaultBackend, err = snapshot.ParseName(value)
	case "default-certificate":
		o.DefaultCertificate, err = snapshot.ParseName(value)
	case "zone":
		o.Zone = value
	case "disable-catch-all":
		o.DisableCatchAll = value == "true"
	case "configmap":
		o.ConfigMap, err = snapshot.ParseName(value)
	case "named-snippets":
		o.NamedSnippets, err = snapshot.ParseName(value)
	case "tcp-services":
		o.TCPServices, err = snapshot.ParseName(value)
	case "udp-services":
		o.UDPServices, err = snapshot.ParseName(value)
	case "passthrough":
		o.Passthrough = value == "true"
	case "ingress-class":
		o.IngressClasses = strings.Split(value, ",")
	case "controller-class":
		o.ControllerClass = value
	case "classes-unreadable":
		o.ClassesUnreadable = value == "true"
	case "class-by-name":
		o.ClassByName = value == "true"
	case "without-class":
		o.WithoutClass = value == "true"
	case "manifest-mode":
		o.ManifestMode = value == "true"
	case "health-check-path":
		o.HealthPath = value
	case "denied":
		name, wrong := snapshot.ParseName(value)
		o.Denied, err = map[model.ObjectRef]claim.Denial{{Kind: "Ingress", Namespace: name.Namespace, Name: name.Name}: claim.DenyPaths}, wrong
	case "replicas":
		o.Replicas, err = strconv.Atoi(value)
	case "https-port":
		o.HTTPSPort, err = strconv.Atoi(value)
	default:
		err = fmt.Errorf("unknown key %q", key)
	}
	return err
}

// routes prints the routing table.
func (o *outcome) routes() string {
	var out strings.Builder
	for _, row := range route.Table(o.config.Static.Servers) {
		fmt.Fprintln(&out, strings.Join(append([]string{row.Host, row.Match, row.Path, row.Answer}, row.Extras...), "  "))
	}
	return out.String()
}

// problemLines prints the problems, one a line.
func (o *outcome) problemLines() string {
	var out strings.Builder
	for _, p := range o.problems {
		fmt.Fprintln(&out, p.Reason, p)
	}
	return out.String()
}

// lintLines prints the findings of lint, one a line.
func (o *outcome) lintLines(t *testing.T) string {
	t.Helper()
	report := lint.Look(o.manifests, lint.Options{Translate: o.options, Templates: kit.Templates(t), Environment: printed})
	var out strings.Builder
	for _, f := range report.Findings {
		fmt.Fprintln(&out, f)
	}
	return out.String()
}

// inJSON prints a value whole, whatever it points to.
func inJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// backends are the lines of the part of that name: the backends whose endpoints are
// not picked in turn.
func (o *outcome) backends() string {
	var text strings.Builder
	for _, b := range o.config.Dynamic.Backends {
		switch {
		case b.Split != nil:
			fmt.Fprintln(&text, b.Key, inJSON(b.Split))
		case b.Balancing != nil:
			fmt.Fprint(&text, b.Key, " ", inJSON(b.Balancing))
			if b.Balancing.ServiceAddress {
				fmt.Fprint(&text, " ", inJSON(b.Endpoints))
			}
			fmt.Fprintln(&text)
		}
	}
	return text.String()
}

// traces prints the settings with which the controller exports spans.
func (o *outcome) traces() string {
	var text strings.Builder
	for _, b := range o.config.Static.Blocks {
		if of, ok := b.Data.(settings.Tracing); ok {
			fmt.Fprintf(&text, "to %s:%d by %s, as %q; %d wait for %d ms, %d at once\n", cmp.Or(of.CollectorHost, "nowhere"), of.CollectorPort, of.Protocol, of.ServiceName, of.QueueSize, of.Delay, of.BatchSize)
		}
	}
	return text.String()
}

// describeRuntime prints what is pushed, so that it can be compared.
func describeRuntime(o *outcome) []string {
	var lines []string
	for _, b := range o.config.Dynamic.Backends {
		lines = append(lines, "backend "+inJSON(b))
	}
	for _, c := range o.config.Dynamic.Certificates {
		lines = append(lines, fmt.Sprintf("certificate %s %s", c.ID, c.Chain))
	}
	for _, n := range o.config.Dynamic.Names {
		lines = append(lines, fmt.Sprintf("name %+v", n))
	}
	return lines
}

// isServedBy reports whether an nginx has the modules for the file. Without ModSecurity its
// locations answer 503: see TestWithoutModSecurity.
func (o outcome) isServedBy(n kit.Nginx) bool {
	return n.Capabilities.ModSecurity != "" || !bytes.Contains(o.file.Bytes(), []byte("\t\tmodsecurity on;\n"))
}
