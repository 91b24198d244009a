package injection

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/model"
	"sluice/internal/render"
	"sluice/internal/selfsigned"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
	"sluice/templates"
)

// fallbackCertificate is presented where no Secret gives a certificate.
var fallbackCertificate = sync.OnceValues(func() (*model.Certificate, error) { return selfsigned.Certificate(time.Now()) })

// loadTemplates parses the templates once for all tests.
var loadTemplates = sync.OnceValues(func() (*render.Templates, error) { return render.Load(templates.Files) })

// printed is the machine of those files that no nginx reads.
var printed = render.Environment{
	HTTPPort: 80, HTTPSPort: 443, IPv6: true, Workers: 1,
	StateDir: "/var/lib/sluice", Lua: "/var/lib/sluice/lua", Modules: []string{"/usr/lib/nginx/modules/lua.so"},
	Capabilities: render.Capabilities{HTTP2Directive: true, HTTP3: true, StubStatus: true, Stream: true, SSLPreread: true, StreamRealIP: true, HeadersMore: true, ModSecurity: true, Brotli: true, GeoIP: true}, CoreRules: render.DebianCoreRules,
	Metrics:   render.Metrics{Requests: true, UndefinedHosts: true},
	Databases: []render.Database{{Edition: "GeoLite2-City", Path: "/var/lib/sluice/geoip/GeoLite2-City-0.mmdb"}, {Edition: "GeoLite2-ASN", Path: "/var/lib/sluice/geoip/GeoLite2-ASN-0.mmdb"}},
}

// worker takes objects through the core. It keeps what does not change from one
// call to the next, as the controller does. It is for one goroutine.
type worker struct {
	templates   *render.Templates
	environment render.Environment
	options     translate.Options
	memo        *translate.Memo
	cache       *render.Cache

	printed []printedFile
}

func newWorker(t *testing.T) *worker {
	t.Helper()
	set, err := loadTemplates()
	if err != nil {
		t.Fatal(err)
	}
	fallback, err := fallbackCertificate()
	if err != nil {
		t.Fatal(err)
	}
	return &worker{
		templates: set, environment: printed, memo: translate.NewMemo(), cache: render.NewCache(),
		options: translate.Options{
			IngressClasses: []string{"nginx"}, ControllerClass: "k8s.io/ingress-nginx", ManifestMode: true,
			AnnotationsPrefix: strings.TrimSuffix(prefix, "/"), HTTPSPort: 443, FallbackCertificate: fallback,
			ConfigMap:   snapshot.Name{Namespace: "sluice", Name: "config"},
			TCPServices: snapshot.Name{Namespace: "sluice", Name: "tcp"}, UDPServices: snapshot.Name{Namespace: "sluice", Name: "udp"}, Passthrough: true,
		},
	}
}

// on has the worker print for a site. TCP and UDP services are left out: their
// ports are the same for all nginx of this machine.
func (w *worker) on(s *site) {
	w.environment = s.Environment
	w.options.TCPServices, w.options.UDPServices = snapshot.Name{}, snapshot.Name{}
}

// workers are those that nobody uses just now.
var workers sync.Pool

// borrow gives a worker until the test gives it back.
func borrow(t *testing.T) (w *worker, back func()) {
	t.Helper()
	w, _ = workers.Get().(*worker)
	if w == nil {
		w = newWorker(t)
	}
	return w, func() { workers.Put(w) }
}

// outcome is what objects become.
type outcome struct {
	snap     *snapshot.Snapshot
	options  translate.Options
	config   model.Config
	file     *render.File
	problems []model.Problem
}

func (w *worker) run(objects snapshot.Objects) outcome {
	snap, problems := snapshot.New(objects)
	config, more := translate.Config(snap, w.options, w.memo)
	file, unprintable := w.render(config.Static)
	all := make([]model.Problem, 0, len(problems)+len(more)+len(unprintable))
	all = append(append(append(all, problems...), more...), unprintable...)
	return outcome{snap: snap, options: w.options, config: config, file: file, problems: model.SortProblems(all)}
}

// printedFile is a model with what it was printed as.
type printedFile struct {
	static      model.Static
	file        *render.File
	unprintable []model.Problem
}

// render prints a model. What is equal to one of the last is not printed again,
// as equal values give equal files.
func (w *worker) render(static model.Static) (*render.File, []model.Problem) {
	for _, p := range w.printed {
		if equal(static, p.static) {
			return p.file, p.unprintable
		}
	}
	p := printedFile{static: static}
	p.file, p.unprintable = w.templates.Render(static, w.environment, w.cache)
	if len(w.printed) > 2 { // the first is kept for good
		w.printed = slices.Delete(w.printed, 1, 2)
	}
	w.printed = append(w.printed, p)
	return p.file, p.unprintable
}

// equal says whether two models print the same. Most that do not differ in how
// many servers and locations there are.
func equal(a, b model.Static) bool {
	alike := func(a, b *model.Server) bool { return a.Host == b.Host && len(a.Locations) == len(b.Locations) }
	return slices.EqualFunc(a.Servers, b.Servers, alike) && reflect.DeepEqual(a, b)
}
