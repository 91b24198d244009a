package debug

import (
	"slices"
	"strings"

	"sluice/internal/debugapi"
	"sluice/internal/model"
)

// defaultBackend is what ingress-nginx calls the default backend.
const defaultBackend = "upstream-default-backend"

// backends answers with the endpoints of nginx.
func (q *question) backends() (body, error) {
	name, given := q.values[debugapi.NameParam]
	var found []debugapi.Backend
	for _, b := range q.state.held().Backends {
		if v := viewBackend(b); !given || v.Key == name || v.Name == name {
			found = append(found, v)
		}
	}
	if given && len(found) == 0 {
		return nil, notFound("name: no backend has the name or the key %s: want a key such as shop/web/80, or ingress-nginx's name of it, shop-web-80", model.Quoted(name))
	}
	return list(found)
}

func viewBackend(b *model.Backend) debugapi.Backend {
	to := b.Target
	v := debugapi.Backend{
		Key: shown(b.Key), Name: shown(to.Label()), Picker: b.Balancing.Picker(),
		Namespace: shown(to.Namespace), Service: shown(to.Name), Host: shown(to.Host), Port: shown(to.Port), Endpoints: []debugapi.Endpoint{},
		ExternalName: shown(b.ExternalName), ExternalPort: b.ExternalPort, WhenEmpty: b.WhenEmpty,
	}
	if to.Port == "" {
		v.Name = defaultBackend
	}
	if b.Split != nil {
		v.Picker, v.Main, v.Total = "split", shown(b.Split.Main), b.Split.Total
		if c := b.Split.Cookie; c != nil {
			v.Cookie = shown(c.Name)
		}
		for _, s := range b.Split.Shares {
			v.Shares = append(v.Shares, debugapi.Share{Backend: shown(s.Backend), Weight: s.Weight, Rules: viewRules(s.Rules)})
		}
	}
	for _, e := range b.Endpoints {
		v.Endpoints = append(v.Endpoints, viewEndpoint(e))
	}
	for _, f := range b.Failing {
		v.Failing = append(v.Failing, debugapi.Failing{Endpoint: viewEndpoint(f.Endpoint), Reason: shown(f.Reason)})
	}
	return v
}

func viewEndpoint(e model.Endpoint) debugapi.Endpoint {
	return debugapi.Endpoint{Address: shown(e.Address), Port: e.Port}
}

func viewRules(rules []model.ShareRule) []debugapi.ShareRule {
	var views []debugapi.ShareRule
	for _, r := range rules {
		views = append(views, debugapi.ShareRule{Variable: shown(r.Variable), Value: shown(r.Value), Pattern: shown(r.Pattern), Takes: r.Takes})
	}
	return views
}

// held returns all endpoints and certificates of nginx: the newest ones, and older ones
// that the confirmed configuration still needs.
func (s *State) held() model.Dynamic {
	before := s.Confirmed.Config.Dynamic
	return model.Dynamic{
		Backends:     with(s.Told.Backends, before.Backends, func(b *model.Backend) string { return b.Key }),
		Certificates: with(s.Told.Certificates, before.Certificates, func(c *model.Certificate) string { return c.ID }),
		Names:        with(s.Told.Names, before.Names, func(n model.CertificateName) string { return n.Host }),
	}
}

// with adds the elements of more whose keys are not in a. All are sorted by key.
func with[T any](a, more []T, key func(T) string) []T {
	var extra []T
	for _, element := range more {
		if _, found := slices.BinarySearchFunc(a, key(element), func(e T, k string) int { return strings.Compare(key(e), k) }); !found {
			extra = append(extra, element)
		}
	}
	if len(extra) == 0 {
		return a
	}
	all := slices.Concat(a, extra)
	slices.SortFunc(all, func(x, y T) int { return strings.Compare(key(x), key(y)) })
	return all
}
