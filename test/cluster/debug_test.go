package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"testing"

	"sluice/internal/debugapi"
)

// looked gives what a running sluice says of itself.
func looked[T any](ctx context.Context, s *Sluice, path string) (value T, err error) {
	out, err := exec.CommandContext(ctx, SluicePath(), "debug", "get", path, "--state-dir", s.State).Output()
	if err == nil {
		err = json.Unmarshal(out, &value)
	}
	return value, err
}

// TestReplicasTellWhoLeads: of two replicas each tells the same leader, the leader
// that it is the one, and when it ends the other.
func TestReplicasTellWhoLeads(t *testing.T) {
	t.Parallel()
	c := Shared(t)
	const name = "told"
	c.Apply(t, Namespace(name))
	c.lend(t, classOf(name))
	c.Apply(t, append(Web(name, "web", 2), ingressOf(name, name, "web", Rule("told.example", "/", "web", 80)))...)
	c.AwaitEndpoints(t, name, "web", 2)
	flags := flagsFor(name, "--post-shutdown-grace-period", "1")
	admin := c.Kubeconfig(t, "admin", "system:masters")
	first, second := RunSluice(t, admin, flags...), RunSluice(t, admin, flags...)
	tells := func(s *Sluice, leader *Sluice) func(context.Context) error {
		return func(ctx context.Context) error {
			g, err := looked[debugapi.General](ctx, s, debugapi.GeneralPath)
			want := debugapi.Leader{Leads: s == leader, Identity: leader.pod()}
			if err == nil && (g.Leader == nil || *g.Leader != want) {
				err = fmt.Errorf("want %+v, it says %+v", want, g.Leader)
			}
			return err
		}
	}
	var leader, other *Sluice
	Eventually(t, "a leader", func(ctx context.Context) error {
		for _, pair := range [][2]*Sluice{{first, second}, {second, first}} {
			if tells(pair[0], pair[0])(ctx) == nil {
				leader, other = pair[0], pair[1]
				return nil
			}
		}
		return fmt.Errorf("neither %s nor %s says that it leads", first.pod(), second.pod())
	})
	Eventually(t, "the other to know", tells(other, leader))
	leader.Terminate()
	Eventually(t, "the other to lead", tells(other, other))
}

// TestPodsAreToldAsEndpoints: what a sluice tells of endpoints follows the pods.
func TestPodsAreToldAsEndpoints(t *testing.T) {
	t.Parallel()
	s := newSite(t, Shared(t), "counted")
	count := func(want int) func(context.Context) error {
		return func(ctx context.Context) error {
			backends, err := looked[[]debugapi.Backend](ctx, s.Sluice, debugapi.BackendsPath+"?name=counted-web-80")
			if err == nil && len(backends[0].Endpoints) != want {
				err = fmt.Errorf("want %d endpoints, it tells %+v", want, backends)
			}
			return err
		}
	}
	s.web(t, "web", 2)
	s.Apply(t, s.ingress("web", Rule("counted.example", "/", "web", 80)))
	EventuallyStatus(t, s.get("counted.example", "/"), http.StatusOK)
	Eventually(t, "both pods", count(2))
	s.Apply(t, Web(s.name, "web", 3)...)
	Eventually(t, "the third pod", count(3))
}
