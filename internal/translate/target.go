package translate

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// target is a host that is no Service, and that subrequests go to.
type target struct {
	// host is without brackets, port a number.
	host, port string
	tls        bool
	// uri is what the target is asked for, as its URL has it; header the Host that it is
	// told.
	uri, header string
}

// targetOf takes a URL apart whose host has no variables; text says why that cannot
// be one. It is reached as an ExternalName Service is: the controller resolves its name,
// and no address of this machine, its link or its cloud's metadata is one.
func targetOf(asked string) (t *target, text string) {
	scheme, rest, _ := strings.Cut(asked, "://")
	end := strings.IndexAny(rest+"/", "/?$")
	at, err := url.Parse(scheme + "://" + rest[:end])
	if err != nil {
		return nil, "want the URL of a host (got " + quoted(asked) + ")"
	}
	host := at.Hostname()
	if _, _, text := whereIs(host); text != "" {
		return nil, "want another host: " + quoted(host) + " " + text
	}
	t = &target{host: strings.ToLower(strings.TrimSuffix(host, ".")), port: at.Port(), tls: scheme == "https", uri: rest[end:], header: host}
	if strings.Contains(host, ":") {
		t.header = "[" + host + "]"
	}
	if t.port == "" {
		t.port = map[bool]string{false: "80", true: "443"}[t.tls]
	}
	return t, ""
}

// transport is how the target is spoken to. Its certificate is not verified, as with
// ingress-nginx; the name of the host is sent by SNI.
func (t *target) transport() model.Transport {
	transport := model.Transport{TLS: t.tls}
	if _, err := netip.ParseAddr(t.host); err != nil && t.tls {
		transport.Name = t.host
	}
	return transport
}

// subrequest gives the path of the internal location by which subrequests of a location
// reach a target. The block says what they are like.
func (b *builder) subrequest(l *model.Location, t *target, kind string, block model.Block) (path string) {
	block.Source = l.Rule.Object
	proxy := b.pass(backendID{service: snapshot.Name{Namespace: l.Rule.Object.Namespace}, host: t.host, port: t.port}, nil)
	proxy.Transport, proxy.URI = t.transport(), t.uri
	return b.internals.add(model.Equal, kind, "/"+proxy.Backend, &model.Location{Rule: l.Rule, Proxy: proxy, Blocks: []model.Block{block}})
}

// print adds a block of its object to a location.
func (b *builder) print(l *model.Location, name string, data any) {
	l.Blocks = append(slices.Clip(l.Blocks), model.Block{Name: name, Data: data, Source: l.Rule.Object})
}
