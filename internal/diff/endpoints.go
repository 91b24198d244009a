package diff

import (
	"slices"
	"strconv"
	"strings"

	"sluice/internal/model"
)

// Endpoints are the endpoints of a backend that differ. They need no reload.
type Endpoints struct {
	// Backend is "namespace/name:port".
	Backend string `json:"backend"`
	// Gained and Lost are "address:port", or the name of an ExternalName service.
	Gained []string `json:"gained"`
	Lost   []string `json:"lost"`
}

// endpoints compares the backends that both sides have. A Service whose backends differ in
// the way of picking endpoints counts once.
func (c *comparison) endpoints() []Endpoints {
	var all []Endpoints
	seen := map[string]bool{}
	for _, now := range c.after.Config.Dynamic.Backends {
		old := find(c.before.Config.Dynamic.Backends, now.Key)
		name := serviceName(now.Target.ServicePort)
		if old == nil || old == now || seen[name] || now.Split != nil {
			continue
		}
		e := Endpoints{Backend: name, Gained: without(addresses(now), addresses(old)), Lost: without(addresses(old), addresses(now))}
		if len(e.Gained)+len(e.Lost) > 0 {
			seen[name] = true
			all = append(all, e)
		}
	}
	return all
}

// find returns the backend with exactly this key.
func find(all []*model.Backend, key string) *model.Backend {
	at, found := slices.BinarySearchFunc(all, key, func(b *model.Backend, key string) int { return strings.Compare(b.Key, key) })
	if !found {
		return nil
	}
	return all[at]
}

func addresses(b *model.Backend) []string {
	var all []string
	for _, e := range b.Endpoints {
		all = append(all, hostPort(e.Address, strconv.Itoa(e.Port)))
	}
	if b.ExternalName != "" {
		all = append(all, hostPort(b.ExternalName, strconv.Itoa(b.ExternalPort)))
	}
	return all
}

// without returns those of all that are not among others.
func without(all, others []string) []string {
	known := make(map[string]bool, len(others))
	for _, o := range others {
		known[o] = true
	}
	return slices.DeleteFunc(slices.Clone(all), func(a string) bool { return known[a] })
}

// hostPort returns "host:port", with brackets for IPv6.
func hostPort(host, port string) string {
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return host + ":" + port
}
