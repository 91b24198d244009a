package translate

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/assemble"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// long returns a pair with a chain of at least this many bytes.
func (p pair) long(size int) pair {
	return pair{bytes.Repeat(p.crt, 1+size/len(p.crt)), p.key}
}

// messages returns the texts of the Problems of a kind of object.
func messages(problems []model.Problem, kind string) []string {
	var texts []string
	for _, p := range problems {
		if p.Object.Kind == kind {
			texts = append(texts, p.String())
		}
	}
	return texts
}

// TestChainsThatAreTooLongAreRefused: neither 1 MB of certificates nor such a key
// reaches nginx. The owners of the Ingress and of the Secret learn the size and the
// limit.
func TestChainsThatAreTooLongAreRefused(t *testing.T) {
	t.Parallel()
	standard, shop := issue(t, "default.example"), issue(t, "shop.example")
	fit := shop.long(mostPEM - 2*len(shop.crt))
	w := world{
		yaml: secret("default/standard", standard) + secret("default/long", shop.long(1<<20)) + secret("default/fits", fit),
		ingresses: []ing{
			{name: "long", tls: []string{"long shop.example"}, rules: []string{"shop.example / P a:80"}},
			{name: "fits", tls: []string{"fits shop.example"}, rules: []string{"fits.example / P a:80", "shop.example /fits P a:80"}},
		},
		options: func(o *Options) { o.DefaultCertificate = snapshot.Name{Namespace: "default", Name: "standard"} },
	}
	config, _ := w.translate(t)
	if got := presented(t, config, "shop.example"); got != "default.example" {
		t.Errorf("shop.example is presented the certificate of %s", got)
	}
	for _, c := range config.Dynamic.Certificates {
		if len(c.Chain) > mostPEM {
			t.Errorf("a chain of %d bytes is pushed", len(c.Chain))
		}
	}
	_, problems := Config(newSnapshot(t, w.objects(t)), w.flags(), nil)
	size := len(shop.crt) * (1 + (1<<20)/len(shop.crt))
	want := fmt.Sprintf("tls.crt: want at most 65536 bytes of certificates (got %d)", size)
	for _, kind := range []string{"Ingress", "Secret"} {
		if texts := messages(problems, kind); !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, want) }) {
			t.Errorf("no %s is told %q: %q", kind, want, texts)
		}
	}
}

// TestCertificatesThatDoNotFitAreOfTheLargestNamespace: all are pushed if all fit.
// Otherwise the namespace with the largest use loses its newest, and others lose
// nothing.
func TestCertificatesThatDoNotFitAreOfTheLargestNamespace(t *testing.T) {
	t.Parallel()
	standard := issue(t, "default.example")
	yaml := secret("default/standard", standard)
	const count = 24
	var ingresses []ing
	add := func(namespace string, number, age int) {
		host := fmt.Sprintf("h%d.%s.example", number, namespace)
		name := fmt.Sprintf("%s/i%02d", namespace, number)
		yaml += secret(name, issue(t, host).long(50_000))
		ingresses = append(ingresses, ing{name: name, age: age, tls: []string{fmt.Sprintf("i%02d %s", number, host)}, rules: []string{host + " / P a:80"}})
	}
	for number := range count {
		add("big", number, 26-number) // the first are the oldest
	}
	for number := range 3 {
		add("small", number, 1)
	}
	for name, test := range map[string]struct{ megabytes, kept int }{"enough": {3, count}, "not enough": {1, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world{yaml: yaml, ingresses: ingresses, options: func(o *Options) {
				o.DefaultCertificate = snapshot.Name{Namespace: "default", Name: "standard"}
				o.Memory = model.Memory{Backends: 1 << 20, Certificates: int64(test.megabytes) << 20}
			}}
			config, _ := w.translate(t)
			_, problems := Config(newSnapshot(t, w.objects(t)), w.flags(), nil)
			own := func(namespace string, number int) bool {
				host := fmt.Sprintf("h%d.%s.example", number, namespace)
				return presented(t, config, host) == host
			}
			for number := range 3 {
				if !own("small", number) {
					t.Errorf("host %d of the small namespace lost its certificate", number)
				}
			}
			kept, used := 0, int64(0)
			for kept < count && own("big", kept) {
				kept++
			}
			for number := kept; number < count; number++ {
				if own("big", number) {
					t.Errorf("host %d is kept, and the older host %d is not", number, kept)
				}
			}
			for _, c := range config.Dynamic.Certificates {
				used += assemble.EntryCost(len("c:")+len(c.ID), len(c.Chain)+1+len(c.Key))
			}
			if limit := int64(test.megabytes) << 20; used > limit/10*9 || kept < count && used < limit/10*8 {
				t.Errorf("%d bytes of %d are used", used, limit)
			}
			var told []string
			for _, p := range problems {
				if p.Reason == model.NoRoom {
					told = append(told, p.Object.String()+" "+p.Field)
				}
			}
			var want []string
			for number := kept; number < count; number++ {
				want = append(want, fmt.Sprintf("Ingress big/i%02d spec.tls[0].secretName", number))
			}
			if diff := cmp.Diff(want, told); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
			if test.kept > 0 && kept != test.kept || kept == 0 {
				t.Errorf("%d of the big namespace are kept", kept)
			}
		})
	}
}

// TestEndpointsThatDoNotFitAreOfTheLargestServices: a Service with thousands of
// endpoints is served with some of them before any other loses one.
func TestEndpointsThatDoNotFitAreOfTheLargestServices(t *testing.T) {
	t.Parallel()
	many := func(namespace, name string, count int) string {
		var addresses []string
		for number := range count {
			addresses = append(addresses, fmt.Sprintf("{addresses: [10.%d.%d.%d]}", number>>16, number>>8&255, number&255))
		}
		return fmt.Sprintf("---\napiVersion: v1\nkind: Service\nmetadata: {namespace: %[1]s, name: %[2]s}\nspec: {ports: [{port: 80}]}\n"+
			"---\napiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {namespace: %[1]s, name: %[2]s-1, labels: {kubernetes.io/service-name: %[2]s}}\n"+
			"addressType: IPv4\nports: [{port: 80}]\nendpoints: [%[3]s]\n", namespace, name, strings.Join(addresses, ", "))
	}
	yaml := many("big", "huge", 15_000) + many("big", "usual", 3) + many("small", "web", 500)
	ingresses := []ing{
		{name: "big/huge", age: 3, rules: []string{"huge.example / P huge:80"}}, {name: "big/usual", rules: []string{"usual.example / P usual:80"}},
		{name: "small/web", rules: []string{"web.example / P web:80"}},
	}
	for name, test := range map[string]struct{ megabytes, huge int }{"enough": {64, mostEndpoints}, "not enough": {1, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world{yaml: yaml, ingresses: ingresses, options: func(o *Options) {
				o.Memory = model.Memory{Backends: 1 << 20, Certificates: 1 << 20}
				if test.megabytes == 1 {
					o.Memory.Backends = 100_000
				}
			}}
			config, problems := w.translate(t)
			if got := len(backendKeyed(t, config, "big/usual/80").Endpoints); got != 3 {
				t.Errorf("the usual Service has %d endpoints", got)
			}
			if got := len(backendKeyed(t, config, "small/web/80").Endpoints); got != 500 {
				t.Errorf("the Service of another namespace has %d endpoints", got)
			}
			huge := backendKeyed(t, config, "big/huge/80")
			if now := Renewer(newSnapshot(t, w.objects(t)), w.flags())(huge); test.huge == 0 && now != huge {
				t.Errorf("retired, the huge Service has %d endpoints instead of %d", len(now.Endpoints), len(huge.Endpoints))
			}
			got := len(huge.Endpoints)
			if test.huge > 0 && got != test.huge || got < 1000 || got > mostEndpoints {
				t.Errorf("the huge Service has %d endpoints", got)
			}
			if diff := cmp.Diff([]string{"NoRoom Service big/huge"}, problems); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSplitsThatDoNotFitAreOfTheLargestNamespace: cookies and canaries with long values
// cannot fill the memory. Beyond the share of their namespace, their paths have the main
// backend only, and both Ingresses learn it.
func TestSplitsThatDoNotFitAreOfTheLargestNamespace(t *testing.T) {
	t.Parallel()
	const many = 100
	yaml := serviceWithoutEndpoints("big", "web") + serviceWithoutEndpoints("big", "next")
	var ingresses []ing
	for n := range many {
		paths := []string{fmt.Sprintf("h%d.example / P web:80", n)}
		ingresses = append(ingresses,
			ing{name: fmt.Sprintf("big/i%02d", n), rules: paths, annotations: map[string]string{"affinity": "cookie", "session-cookie-path": "/" + strings.Repeat("x", 900)}},
			ing{name: fmt.Sprintf("big/c%02d", n), rules: []string{strings.Replace(paths[0], "web", "next", 1)}, annotations: map[string]string{"canary": "true", "canary-by-header": "X", "canary-by-header-value": strings.Repeat("y", 900)}})
	}
	for n := range 20 {
		yaml += serviceWithoutEndpoints("small", fmt.Sprint("web", n))
		ingresses = append(ingresses, ing{name: fmt.Sprint("small/i", n), rules: []string{fmt.Sprintf("small%d.example / P web%d:80", n, n)}})
	}
	w := world{yaml: yaml, ingresses: ingresses, options: func(o *Options) { o.Memory = model.Memory{Backends: 200_000, Certificates: 1 << 20} }}
	config, problems := w.translate(t)
	cost, splits, small := int64(0), 0, 0
	for _, b := range config.Dynamic.Backends {
		cost += backendCost(b, len(b.Endpoints))
		if b.Split != nil {
			splits++
			if config.Dynamic.Backend(b.Split.Main) == nil || !strings.HasPrefix(b.Key, b.Split.Main+"~") {
				t.Errorf("%s has the main backend %s", b.Key, b.Split.Main)
			}
		} else if b.Target.Namespace == "small" {
			small++
		}
	}
	if cost > assemble.Room(200_000) || splits == 0 || splits == many || small != 20 {
		t.Errorf("%d bytes, %d splits, %d backends of the small namespace", cost, splits, small)
	}
	for _, server := range config.Static.Servers {
		for _, l := range server.Locations {
			if l.Proxy != nil && config.Dynamic.Backend(l.Proxy.Backend) == nil {
				t.Errorf("%s has no backend %s", server.Host, l.Proxy.Backend)
			}
		}
	}
	left := map[string]int{}
	for _, p := range problems {
		if strings.HasPrefix(p, "NoRoom ") {
			left[strings.TrimRight(strings.Fields(p)[2], "0123456789")]++
		}
	}
	if want := map[string]int{"big/i": many - splits, "big/c": many - splits}; !maps.Equal(want, left) {
		t.Errorf("of %d splits %v are reported, want %v", many, left, want)
	}
}

// TestOtherSizesThanNginxHas: a size that changes while nginx runs takes effect at its
// next start, and is reported.
func TestOtherSizesThanNginxHas(t *testing.T) {
	t.Parallel()
	w := world{config: map[string]string{"lua-shared-dicts": "certificate_data: 20, configuration_data: 1024k"}, options: func(o *Options) {
		o.Memory = model.Memory{Backends: 64 << 20, Certificates: 128 << 20}
	}}
	w.check(t, nil, []string{"Unsupported ConfigMap sluice/config lua-shared-dicts"})
	w.options = func(o *Options) { o.Memory = model.Memory{Backends: 1 << 20, Certificates: 20 << 20} }
	w.check(t, nil, nil)
}
