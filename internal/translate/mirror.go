package translate

import (
	"cmp"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"sluice/internal/annotations"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// mirrored is where copies of requests go.
type mirrored struct {
	// host is without brackets, port a number.
	host, port string
	tls        bool
	// uri is what the target is asked for, header the Host that it is told.
	uri, header string
}

// mirroredTo takes mirror-target apart; nil if nothing is mirrored. The target is
// reached as an ExternalName Service is: the controller resolves its name, and no
// address of this machine, its link or its cloud's metadata is one.
func mirroredTo(asked *annotations.Mirror) (m *mirrored, text string) {
	if asked.Target == "" {
		return nil, ""
	}
	scheme, rest, _ := strings.Cut(asked.Target, "://")
	end := strings.IndexAny(rest+"/", "/$")
	at, err := url.Parse(scheme + "://" + rest[:end])
	if err != nil {
		return nil, "want the URL of a host (got " + quoted(asked.Target) + "): nothing is mirrored"
	}
	host := at.Hostname()
	if _, _, text := whereIs(host); text != "" {
		return nil, "want another host: " + quoted(host) + " " + text + ": nothing is mirrored"
	}
	m = &mirrored{host: strings.ToLower(strings.TrimSuffix(host, ".")), port: at.Port(), tls: scheme == "https"}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if m.port == "" {
		m.port = map[bool]string{false: "80", true: "443"}[m.tls]
	}
	m.uri, m.header = cmp.Or(rest[end:], "$request_uri"), cmp.Or(asked.Host, host)
	return m, ""
}

// remarkMirror reports a target that cannot be one.
func (i *owner) remarkMirror(asked *annotations.Mirror) {
	if _, text := mirroredTo(asked); text != "" {
		i.report(i.prefixKey+"mirror-target", model.InvalidValue, text)
	}
}

// transport is how the target is spoken to. Its certificate is not verified, as with
// ingress-nginx; the name of the host is sent by SNI.
func (m *mirrored) transport() model.Transport {
	t := model.Transport{TLS: m.tls}
	if _, err := netip.ParseAddr(m.host); err != nil && m.tls {
		t.Name = m.host
	}
	return t
}

// What the blocks of a mirror print: in the location that is mirrored, and in the
// internal one of its copies.
type (
	mirrorBlock struct{ To, Body string }
	copyBlock   struct{ Host string }
)

// mirror has copies of the requests of a location sent to the target of its
// annotations, by an internal location.
func (b *builder) mirror(l *model.Location, c *claim) {
	m, _ := mirroredTo(c.annotations.Mirror)
	if m == nil || l.Proxy == nil {
		return
	}
	source := c.owner.ref
	proxy := b.pass(backendID{service: snapshot.Name{Namespace: source.Namespace}, host: m.host, port: m.port}, nil)
	proxy.Transport, proxy.URI = m.transport(), m.uri
	to := b.internals.add(model.Equal, "mirror", "/"+proxy.Backend, &model.Location{
		Rule: l.Rule, Proxy: proxy, Blocks: []model.Block{{Name: "mirror-copy", Data: copyBlock{m.header}, Source: source}},
	})
	l.Blocks = append(slices.Clip(l.Blocks), model.Block{Name: "mirror", Data: mirrorBlock{to, c.annotations.Mirror.Body}, Source: source})
}
