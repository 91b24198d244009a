package debug

import (
	"slices"
	"strings"

	"sluice/internal/debug/view"
	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/translate"
)

// defaultBackend is what ingress-nginx calls the default backend.
const defaultBackend = "upstream-default-backend"

// backends answers what nginx was told of endpoints.
func (q *question) backends() (body, error) {
	name, given := q.values[view.NameParam]
	var found []view.Backend
	for _, b := range q.state.held().Backends {
		if v := viewBackend(b); !given || v.Key == name || v.Name == name {
			found = append(found, v)
		}
	}
	if given && len(found) == 0 {
		return nil, notFound("name: no backend has the name or the key %s: want a key such as shop/web/80, or ingress-nginx's name of it, shop-web-80", keys.Quote(name))
	}
	return list(found)
}

func viewBackend(b *model.Backend) view.Backend {
	service, port := translate.BackendOf(b.Key)
	v := view.Backend{
		Key: shown(b.Key), Name: shown(service.Namespace + "-" + service.Name + "-" + port),
		Namespace: shown(service.Namespace), Service: shown(service.Name), Port: shown(port), Endpoints: []view.Endpoint{},
		ExternalName: shown(b.ExternalName), ExternalPort: b.ExternalPort, WhenEmpty: b.WhenEmpty,
	}
	if port == "" {
		v.Name = defaultBackend
	}
	for _, e := range b.Endpoints {
		v.Endpoints = append(v.Endpoints, view.Endpoint{Address: shown(e.Address), Port: e.Port})
	}
	return v
}

// held is what nginx was told: the newest, and what the configuration that was
// confirmed last needs besides, as where a newer one is under way or failed.
func (s *State) held() model.Dynamic {
	before := s.Confirmed.Config.Dynamic
	return model.Dynamic{
		Backends:     with(s.Told.Backends, before.Backends, func(b *model.Backend) string { return b.Key }),
		Certificates: with(s.Told.Certificates, before.Certificates, func(c *model.Certificate) string { return c.ID }),
		Names:        with(s.Told.Names, before.Names, func(n model.CertificateName) string { return n.Host }),
	}
}

// with adds the elements whose key a lacks; all are sorted by key.
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
