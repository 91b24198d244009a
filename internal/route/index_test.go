package route

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/model"
)

// Whatever the servers, an index answers as Match does.
func TestIndexAnswersAsMatch(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	hosts := []string{"a.example", "b.example", "x.a.example", "*.example", "*.a.example", "*.b.example"}
	aliases := []string{"c.example", "*.c.example", "c.*", `~^d[0-9]\.example$`, "b.example"}
	asked := append([]string{"c.x.example", "d7.example", "y.x.a.example", "c.org", "", "a.example:80", "A.Example.", "a..b", "other.test"}, hosts[:3]...)
	uris := []string{"/", "/a", "/a/b", "/ab", "/A/b", "/post", "/%zz", model.InternalPrefix + "x"}
	seen := map[Outcome]int{}
	for range 3000 {
		servers := []*model.Server{server("", proxied(model.PrefixFirst, "/"))}
		for _, host := range hosts {
			if random.IntN(2) == 0 {
				continue
			}
			s := server(host, proxied(model.Prefix, "/a/"), proxied(model.Pattern, "^/a"), proxied(model.Pattern, `^/p(?(1)a|b)`))
			s.AnyLabels = random.IntN(3) == 0
			if host[0] == '*' && random.IntN(2) == 0 {
				s.Internal = append(s.Internal, model.MissOf(proxied(model.Prefix, "/")))
			}
			if random.IntN(2) == 0 {
				s.Aliases = []string{aliases[random.IntN(len(aliases))]}
				s.AliasesOnly = random.IntN(2) == 0
			}
			dispatching := proxied(model.Equal, "/post")
			dispatching.Dispatch = []model.Candidate{{To: "post", Conditions: []model.Condition{{Of: model.OfMethod, Pattern: `^POST\z`}}}, {To: "rest"}}
			s.Locations = append(s.Locations, dispatching)
			s.Internal = append(s.Internal, &model.Internal{Location: proxied(model.Equal, model.InternalPrefix+"x")})
			for _, name := range []string{"post", "rest"} {
				s.Internal = append(s.Internal, &model.Internal{Location: proxied(model.Named, name)})
			}
			servers = append(servers, s)
		}
		index := NewIndex(servers)
		for range 10 {
			r := Request{Host: asked[random.IntN(len(asked))], URI: uris[random.IntN(len(uris))], Method: []string{"GET", "POST"}[random.IntN(2)]}
			want, got := Choose(servers, r).Answer, index.Match(r)
			seen[want.Outcome]++
			if got != want {
				t.Fatalf("%+v: %s", r, cmp.Diff(want, got))
			}
			if want.Server != nil && index.Server(r.Host) != want.Server {
				t.Fatalf("%+v is of the server %q, not %q", r, index.Server(r.Host).Host, want.Server.Host)
			}
		}
	}
	for _, outcome := range []Outcome{Served, Missed, Redirects, Refuses, Unmatched, Unknown} {
		if seen[outcome] == 0 {
			t.Errorf("%s was never the outcome: the test asks for too little", outcome)
		}
	}
}
