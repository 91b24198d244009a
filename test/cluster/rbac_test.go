package cluster

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// atOnce bounds the scenes that are played at one time: each is a sluice with its
// nginx.
const atOnce = 3

// stage is a cluster for scenes: its nodes have external addresses too, and what
// accounts ask for is written down.
type stage struct {
	*Cluster
	places chan struct{}
	scenes atomic.Int64 // so that each has names of its own
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{Cluster: Start(t, Audited), places: make(chan struct{}, atOnce)}
	for i := range 2 {
		name := fmt.Sprintf("node-%d", i+1)
		node, err := s.Admin().CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		node.Status.Addresses = append(node.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeExternalIP, Address: externalIP(name)})
		if _, err := s.Admin().CoreV1().Nodes().UpdateStatus(t.Context(), node, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// externalIP is the external address of a node.
func externalIP(node string) string {
	return "203.0.113.1" + strings.TrimPrefix(node, "node-")
}

// scene runs a subtest with a scene, in parallel with a few others.
func (s *stage) scene(t *testing.T, name string, with cast, play func(*scene)) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		s.places <- struct{}{}
		defer func() { <-s.places }()
		play(newScene(t, s.Cluster, fmt.Sprintf("rbac-%d", s.scenes.Add(1)), with))
	})
}

// casts are who the scenario is played with: each set of values that docs/rbac.md
// tells of, with the rights that the chart grants then; and the rights that
// ingress-nginx has.
var casts = map[string]cast{
	"everything":              {from: "all-namespaces"},
	"everything, plain lists": {from: "all-namespaces", plainLists: true},
	"metadata of secrets":     {from: "all-secrets"},
	"all secrets":             {from: "all-secrets", arguments: []string{"--watch-secrets=all"}},
	"single secrets":          {from: "single-secrets"},
	"namespace selector":      {from: "namespace-selector", arguments: []string{"--watch-namespace-selector=cluster.test/served-by=$(CLASS)"}},
	"TCP and UDP services":    {from: "streams"},
	"headers":                 {from: "headers"},
	"single headers":          {from: "single-headers"},
	"status from nodes":       {from: "status-from-nodes"},
	"one namespace": {
		from: "one-namespace", arguments: []string{"--watch-namespace=$(SHOP)"},
		denied: []string{"ingressclasses list", "ingressclasses watch"},
	},
	"its own namespace": {
		from: "own-namespace", oneNamespace: true,
		denied: []string{"ingressclasses list", "ingressclasses watch"},
	},
	"chart of ingress-nginx": {
		from: "all-namespaces", account: "ingress-nginx", rights: ingressNginx, arguments: []string{"--election-id=ingress-nginx-leader", "--watch-secrets=metadata"},
		denied: []string{"ingresses/status patch"},
	},
}

// TestRights plays the scenario with each cast, and reads in the API server's
// audit log that nothing was denied; and with each right left out, and sees what
// is missing then.
func TestRights(t *testing.T) {
	s := newStage(t)
	for name, with := range casts {
		s.scene(t, name, with, func(s *scene) {
			s.play()
			s.wantRefused()
			s.wantSaidOnce()
			if s.plainLists {
				s.wantAllUsed()
			}
		})
	}
	for _, r := range removals(t) {
		s.scene(t, r.name(), r.cast, func(s *scene) { r.play(s) })
	}
}

// wantRefused: nothing was denied but what the cast says.
func (s *scene) wantRefused() {
	s.Helper()
	if got := s.refused(); !slices.Equal(got, s.denied) {
		s.Errorf("the audit log has as denied: %q, want %q", got, s.denied)
	}
}

// wantAllUsed: each right that was granted was made use of.
func (s *scene) wantAllUsed() {
	s.Helper()
	used := map[string]bool{}
	for _, a := range s.c.Asked(s.T, s.user) {
		if !a.Forbidden {
			used[a.Group+" "+a.Resource+" "+a.Verb] = true
		}
	}
	for _, r := range rightsOf(s.T, rendered(s.T, ofChart(s.from))) {
		if !used[r.group+" "+r.resource+" "+r.verb] {
			s.Errorf("nothing was done by the right %s", r)
		}
	}
}
