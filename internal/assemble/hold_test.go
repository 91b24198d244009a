package assemble

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/route"
	"sluice/internal/settings"
)

// held is a host with an owner that protects a path, and an older neighbour with the
// path /.
var held = map[string]func() Input{
	"plain paths": func() Input {
		s, _ := settings.Read(nil)
		return inputOf(s, owned(s, "open", 1, "/", claim.Prefix, nil), owned(s, "locked", 9, "/admin", claim.Prefix, locks))
	},
	"patterns": func() Input {
		s, _ := settings.Read(nil)
		return inputOf(s, owned(s, "open", 1, "/", claim.Prefix, nil), owned(s, "locked", 9, "/admin[0-9]*", claim.ImplementationSpecific, locksPattern))
	},
	"patterns below prefixes": func() Input {
		s, _ := settings.Read(&corev1.ConfigMap{Data: map[string]string{"regex-scope": "path"}})
		return inputOf(s, owned(s, "open", 1, "/.*", claim.ImplementationSpecific, map[string]string{"use-regex": "true"}),
			owned(s, "locked", 9, "/admin[0-9]*", claim.ImplementationSpecific, locksPattern))
	},
}

var (
	locks        = map[string]string{"allowlist-source-range": "10.0.0.0/8"}
	locksPattern = map[string]string{"allowlist-source-range": "10.0.0.0/8", "use-regex": "true"}
)

// hold finds a location that the test broke: the path returns 503, and the owner gets a
// Problem.
func TestBrokenPlacementIsHeld(t *testing.T) {
	t.Parallel()
	locked := func(l *model.Location) bool { return l.Rule.Object.Name == "locked" }
	for name, breaks := range map[string]func(*builder){
		"nothing":                 func(*builder) {},
		"a claim is dropped":      func(b *builder) { b.locations = slices.DeleteFunc(b.locations, locked) },
		"a protection is dropped": func(b *builder) { each(b, locked, func(l *model.Location) { l.Blocks = nil }) },
		"an owner is mistaken": func(b *builder) {
			each(b, locked, func(l *model.Location) { l.Rule.Object.Name = "open" })
		},
		"patterns are reversed": func(b *builder) { slices.Reverse(b.locations) },
		"another path takes it": func(b *builder) {
			each(b, locked, func(l *model.Location) { *l = *at(b, "open", l.Modifier, l.Path) })
		},
	} {
		for kind, w := range held {
			b := placed(w())
			breaks(b)
			before := len(b.out.problems)
			b.hold()
			b.finish()
			servers := []*model.Server{{}, b.out.server}
			opened := false
			for _, path := range []string{"/admin", "/admin/", "/admin/x"} {
				answer := route.Match(servers, "h", path)
				l := answer.Location
				guarded := l.Rule.Object.Name == "locked" && slices.ContainsFunc(l.Blocks, func(x model.Block) bool { return x.Name == "allow-list" })
				if !guarded && (l.Return == nil || l.Return.Code != 503) {
					t.Errorf("%s, %s: %s is open, by %s %q of %s", kind, name, path, l.Modifier, l.Path, l.Rule.Object)
				}
				opened = opened || !guarded
			}
			told := slices.ContainsFunc(b.out.problems[before:], func(p model.Problem) bool { return p.Object.Name == "locked" && p.Denies })
			if told != opened {
				t.Errorf("%s, %s: the owner is told: %t; something answers 503: %t", kind, name, told, opened)
			}
		}
	}
}

// A protection that a source of claims forgot to attach closes the path, even without a
// neighbour.
func TestForgottenProtectionIsHeld(t *testing.T) {
	t.Parallel()
	for name, given := range map[string]map[string]string{
		"basic-auth":    {"auth-type": "basic", "auth-secret": "users"},
		"external-auth": {"auth-url": "http://auth.example"},
		"transport":     {"backend-protocol": "HTTPS", "proxy-ssl-secret": "default/ca", "proxy-ssl-verify": "on", "proxy-ssl-name": "backend"},
	} {
		s, _ := settings.Read(nil)
		b := placed(inputOf(s, owned(s, "locked", 1, "/admin", claim.Prefix, given)))
		b.hold()
		b.finish()
		for _, path := range []string{"/admin", "/admin/x"} {
			l := route.Match([]*model.Server{{}, b.out.server}, "h", path).Location
			if l.Return == nil || l.Return.Code != 503 {
				t.Errorf("%s is not attached, and %s is open", name, path)
			}
		}
		if !slices.ContainsFunc(b.out.problems, func(p model.Problem) bool { return p.Denies }) {
			t.Errorf("%s is not attached, and its owner is not told", name)
		}
	}
}

// A protected path without a leading slash closes the path that it may be meant for, and
// no path of a neighbour. Nobody is told of a mistake in Sluice.
func TestPathWithoutSlashIsClosed(t *testing.T) {
	t.Parallel()
	s, _ := settings.Read(nil)
	for _, kind := range []claim.PathType{claim.Exact, claim.Prefix, claim.ImplementationSpecific} {
		locked := owned(s, "locked", 9, "admin", kind, locks)
		locked.Hosts[0].Claims[0].Broken = true // as its source found
		b := placed(inputOf(s, owned(s, "open", 1, "/", claim.Prefix, nil), locked))
		b.hold()
		b.finish()
		servers := []*model.Server{{}, b.out.server}
		if l := route.Match(servers, "h", "/admin").Location; l.Return == nil || l.Return.Code != 503 {
			t.Errorf("%s: /admin is open", kind)
		}
		if l := route.Match(servers, "h", "/other").Location; l.Rule.Object.Name != "open" || l.Proxy == nil {
			t.Errorf("%s: /other is not served by its owner", kind)
		}
		for _, p := range b.out.problems {
			t.Errorf("%s: %s: %s", kind, p.Object, p.Text)
		}
	}
}

// Of a protected pattern without a leading slash, everything that begins like it is closed.
// The other paths of neighbours stay.
func TestPatternWithoutSlashIsClosed(t *testing.T) {
	t.Parallel()
	s, _ := settings.Read(nil)
	for _, test := range []struct{ pattern, closed string }{
		{"admin", "/admin"}, {"admin.*", "/admin/x"}, {"admin.x", "/adminyx"}, {"admin+", "/adminnn"}, {"admins?", "/admin"}, {"admin[0-9]", "/admin7"},
	} {
		locked := owned(s, "locked", 9, test.pattern, claim.ImplementationSpecific, locksPattern)
		locked.Hosts[0].Claims[0].Broken = true // as its source found
		b := placed(inputOf(s, owned(s, "open", 1, "/", claim.ImplementationSpecific, nil), locked))
		b.hold()
		b.finish()
		servers := []*model.Server{{}, b.out.server}
		if l := route.Match(servers, "h", test.closed).Location; l.Return == nil || l.Return.Code != 503 {
			t.Errorf("%s: %s is open", test.pattern, test.closed)
		}
		for _, path := range []string{"/", "/other"} {
			if l := route.Match(servers, "h", path).Location; l.Rule.Object.Name != "open" || l.Proxy == nil {
				t.Errorf("%s: %s is not served by its owner", test.pattern, path)
			}
		}
		for _, p := range b.out.problems {
			t.Errorf("%s: %s: %s", test.pattern, p.Object, p.Text)
		}
	}
}

// A protected pattern without a leading slash that can match anything closes the host, as
// one with a slash does. Nobody is told of a mistake in Sluice.
func TestPatternWithoutSlashOrBeginningClosesAll(t *testing.T) {
	t.Parallel()
	s, _ := settings.Read(nil)
	for _, pattern := range []string{"admin|/secret", ".*/secret", "(admin|/secret)", "a?/secret"} {
		locked := owned(s, "locked", 9, pattern, claim.ImplementationSpecific, locksPattern)
		locked.Hosts[0].Claims[0].Broken = true // as its source found
		b := placed(inputOf(s, owned(s, "open", 1, "/", claim.ImplementationSpecific, nil), locked))
		b.hold()
		b.finish()
		for _, path := range []string{"/secret", "/x/secret", "/admin"} {
			if l := route.Match([]*model.Server{{}, b.out.server}, "h", path).Location; l.Return == nil || l.Return.Code != 503 {
				t.Errorf("%s: %s is open", pattern, path)
			}
		}
		for _, p := range b.out.problems {
			t.Errorf("%s: %s: %s", pattern, p.Object, p.Text)
		}
	}
}

func each(b *builder, chosen func(*model.Location) bool, change func(*model.Location)) {
	for _, l := range b.locations {
		if chosen(l) {
			change(l)
		}
	}
}

// at returns the location of another owner.
func at(b *builder, owner string, modifier model.Modifier, path string) *model.Location {
	found := slices.IndexFunc(b.locations, func(l *model.Location) bool { return l.Rule.Object.Name == owner })
	l := *b.locations[found]
	l.Modifier, l.Path = modifier, path
	return &l
}

// placed returns the locations of the host h before hold checks them.
func placed(in Input) *builder {
	a := NewMemo().begin(in)
	hosts := a.gather()
	return a.place(hosts[slices.IndexFunc(hosts, func(h *host) bool { return h.name == "h" })], serverInput{}, nil)
}
