package dynamic

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/model"
)

// TestBalancingIsEncodedAsInTheCases builds the backends of shared cases from the
// model.
func TestBalancingIsEncodedAsInTheCases(t *testing.T) {
	t.Parallel()
	web := model.Target{ServicePort: model.ServicePort{Namespace: "shop", Name: "web", Port: "80"}}
	for name, b := range map[string]*model.Backend{
		"a backend with a picker of its own": {
			Key: "shop/web/80~0a1b", Target: web, Endpoints: []model.Endpoint{{Address: "192.0.2.1", Port: 8080}},
			Balancing: &model.Balancing{Affinity: model.Persistent},
		},
		"a cookie of a path": {
			Key: "shop/web/80~cookie", Target: web,
			Split: &model.Split{Main: "shop/web/80~0a1b", Total: 1, Cookie: &model.Cookie{Name: "SRV", MaxAge: "0", Path: "/", Secure: true}},
		},
		"a hash with a subset, ejection and slow start": {
			Key: "shop/web/80~hash", Target: web, Endpoints: []model.Endpoint{{Address: "192.0.2.1", Port: 8080}}, RingPoints: 20000,
			Balancing: &model.Balancing{Hash: &model.Hash{By: []string{"", "host", "-a"}, Subset: 3}, Ejection: &model.Ejection{MaxFails: 2, Timeout: 10}, SlowStart: 30},
		},
		"the endpoint with the fewest requests": {
			Key: "shop/web/80~least", Target: web, Endpoints: []model.Endpoint{{Address: "192.0.2.1", Port: 8080}},
			Balancing: &model.Balancing{Algorithm: model.LeastConn, ServiceAddress: true},
		},
		"endpoints in turn with ejection": {
			Key: "shop/web/80~turn", Target: web, Endpoints: []model.Endpoint{{Address: "192.0.2.1", Port: 8080}},
			Balancing: &model.Balancing{Ejection: &model.Ejection{MaxFails: 1, Timeout: 1}},
		},
		"a canary by a pattern": {
			Key: "shop/web/80~pattern", Target: web,
			Split: &model.Split{Main: "shop/web/80", Total: 100, Shares: []model.Share{
				{Backend: "shop/can/80", Name: "shop-can-80", Rules: []model.ShareRule{{Variable: "http_x", Pattern: "de|at", Limit: 20000, Takes: true}}},
			}},
		},
		"a split": {
			Key: "shop/web/80~split", Target: web,
			Split: &model.Split{Main: "shop/web/80", Total: 100, Shares: []model.Share{
				{Backend: "shop/can/80", Name: "shop-can-80", Weight: 5, Rules: []model.ShareRule{{Variable: "http_x", Value: "always", Takes: true}, {Variable: "cookie_x", Value: "never"}}},
			}},
		},
	} {
		cases := wireCases(t)
		at := slices.IndexFunc(cases, func(c wireCase) bool { return c.Name == name })
		var want push
		if err := json.Unmarshal(cases[at].Push, &want); err != nil {
			t.Fatal(err)
		}
		got, err := encodeBackend(b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(generic(t, want.Set.Backends[0]), generic(t, got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestCheckNeedsNoPicker: the controller takes the failing endpoints away.
func TestCheckNeedsNoPicker(t *testing.T) {
	t.Parallel()
	for _, balancing := range []model.Balancing{{Check: &model.Check{Path: "/"}}, {ServiceAddress: true}} {
		got, err := encodeBackend(&model.Backend{Key: "shop/web/80~c", Balancing: &balancing, Endpoints: []model.Endpoint{{Address: "192.0.2.1", Port: 8080}},
			Failing: []model.Failing{{Endpoint: model.Endpoint{Address: "192.0.2.2", Port: 8080}, Reason: "status 500"}}})
		if want := `{"key":"shop/web/80~c","endpoints":[["192.0.2.1",8080]],"empty":503}`; err != nil || string(got) != want {
			t.Errorf("got %s and the error %v, want %s", got, err, want)
		}
	}
}

// TestUnknownBalancingIsAnError: no cookie replaces it, and its endpoints get requests.
func TestUnknownBalancingIsAnError(t *testing.T) {
	t.Parallel()
	for _, balancing := range []model.Balancing{{}, {Affinity: "sticky"}, {Affinity: "sticky", Hash: &model.Hash{By: []string{"a"}}}, {Algorithm: "random"}} {
		b := &model.Backend{Key: "shop/web/80", Endpoints: []model.Endpoint{{Address: "192.0.2.1", Port: 8080}}, Balancing: &balancing}
		got, err := encodeBackend(b)
		if want := `{"key":"shop/web/80","endpoints":[["192.0.2.1",8080]],"empty":503}`; err == nil || string(got) != want {
			t.Errorf("%+v: got %s and the error %v, want %s", balancing, got, err, want)
		}
	}
}

// TestTagIsThatOfIngressNginx: md5(md5(name) + name). With it, clients stay at their
// backend when Sluice replaces ingress-nginx.
func TestTagIsThatOfIngressNginx(t *testing.T) {
	t.Parallel()
	if got := tagOf("default-web-80"); got != "6cde5721ec2c7e2bce07cff7d0e4ac37" {
		t.Errorf("got %s", got)
	}
}
