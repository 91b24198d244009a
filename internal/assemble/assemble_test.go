package assemble

import (
	"testing"
	"time"

	"sluice/internal/annotations"
	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
)

const prefix = "nginx.ingress.kubernetes.io"

// nothing is a cluster without Secrets and Namespaces.
type nothing struct{}

func (nothing) Certificate(snapshot.Name, string) *Presented { return &missing }
func (nothing) Delegation(string) string                     { return "" }
func (nothing) Backend(b *Backend) *model.Backend            { return &model.Backend{Key: b.Key} }

var missing = Presented{Reason: model.NotFound, Fault: "there is none"}

// owned is an owner with one claim for the host h: a path, of a type, for the Service
// with the owner's name.
func owned(s *settings.Settings, name string, created int64, path string, pathType claim.PathType, given map[string]string) *claim.Owner {
	all := map[string]string{}
	for key, value := range given {
		all[prefix+"/"+key] = value
	}
	ref := model.ObjectRef{Kind: "Rule", Namespace: "default", Name: name}
	owner := &claim.Owner{
		Ref: ref, Age: claim.Age{Created: time.Unix(created, 0), Name: "default/" + name}, Settings: s, PrefixKey: prefix + "/",
		Annotations: annotations.Of(annotations.Source{Object: ref, Given: all}, s, prefix),
	}
	owner.Hosts = []*claim.Rules{{Owner: owner, Host: "h", Field: "host", Claims: []claim.Claim{{
		Owner: owner, Annotations: owner.Annotations, Field: "rule", Path: path, PathType: pathType,
		Action: claim.Action{Service: &claim.Service{Name: snapshot.Name{Namespace: "default", Name: name}, Port: "80"}},
	}}}}
	return owner
}

func inputOf(s *settings.Settings, owners ...*claim.Owner) Input {
	return Input{Settings: s, Owners: owners, Objects: nothing{}}
}

// Results keep their pointers while the claims stay, and are forgotten with them.
func TestMemoKeepsWhatIsInUse(t *testing.T) {
	t.Parallel()
	s, _ := settings.Read(nil)
	kept, gone := owned(s, "kept", 1, "/", claim.Prefix, nil), owned(s, "gone", 2, "/", claim.Prefix, nil)
	gone.Hosts[0].Host = "other"
	memo := NewMemo()
	before := memo.Assemble(inputOf(s, kept, gone))
	after := memo.Assemble(inputOf(s, kept))
	if len(before.Servers) != 3 || len(after.Servers) != 2 || before.Servers[1] != after.Servers[1] {
		t.Errorf("%d servers, then %d", len(before.Servers), len(after.Servers))
	}
	if len(before.Backends) != 2 || len(after.Backends) != 1 || after.Backends[0].Key != "default/kept/80" {
		t.Errorf("%d backends, then %d", len(before.Backends), len(after.Backends))
	}
	if len(memo.hosts) != 2 || len(memo.backends) != 1 {
		t.Errorf("%d hosts and %d backends are remembered", len(memo.hosts), len(memo.backends))
	}
	if again := memo.Assemble(inputOf(s, owned(s, "kept", 1, "/", claim.Prefix, nil))); again.Servers[1] == after.Servers[1] {
		t.Error("another owner has the same server")
	}
}

// Of two claims for a path, the older one wins, whatever their sources. The other one
// gets a Problem.
func TestOldestClaimCounts(t *testing.T) {
	t.Parallel()
	s, _ := settings.Read(nil)
	a := NewMemo().Assemble(inputOf(s, owned(s, "old", 1, "/x", claim.Exact, nil), owned(s, "young", 2, "/x", claim.Exact, nil)))
	at := a.Servers[1].Locations[0]
	if at.Modifier != model.Equal || at.Path != "/x" || at.Proxy.Backend != "default/old/80" {
		t.Errorf("%s %s", at.Modifier, at.Path)
	}
	if len(a.Problems) != 1 || a.Problems[0][0].Object.Name != "young" || a.Problems[0][0].Reason != model.Conflict {
		t.Errorf("Problems: %v", a.Problems)
	}
}
