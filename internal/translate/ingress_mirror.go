package translate

import (
	"cmp"
	"net/netip"
	"net/url"
	"strings"

	"sluice/internal/annotations"
	"sluice/internal/claim"
	"sluice/internal/model"
)

// readMirror takes mirror-target apart. The target is reached as an ExternalName
// Service is: the controller resolves its name, and no address of this machine, its
// link or its cloud's metadata is one.
func (t *translation) readMirror(ing *owner, asked *annotations.Mirror) *claim.Attached {
	if asked.Target == "" {
		return nil
	}
	m, text := mirroredTo(asked)
	if text != "" {
		ing.report(ing.PrefixKey+"mirror-target", model.InvalidValue, text+": nothing is mirrored")
		return nil
	}
	return &claim.Attached{Mirror: m}
}

func mirroredTo(asked *annotations.Mirror) (m *claim.Mirrored, text string) {
	scheme, rest, _ := strings.Cut(asked.Target, "://")
	end := strings.IndexAny(rest+"/", "/$")
	at, err := url.Parse(scheme + "://" + rest[:end])
	if err != nil {
		return nil, "want the URL of a host (got " + claim.Quoted(asked.Target) + ")"
	}
	host := at.Hostname()
	if _, _, text := whereIs(host); text != "" {
		return nil, "want another host: " + claim.Quoted(host) + " " + text
	}
	m = &claim.Mirrored{Host: strings.ToLower(strings.TrimSuffix(host, ".")), Port: at.Port(), Transport: model.Transport{TLS: scheme == "https"}}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if m.Port == "" {
		m.Port = map[bool]string{false: "80", true: "443"}[m.Transport.TLS]
	}
	// The certificate is not verified, as with ingress-nginx; the name is sent by SNI.
	if _, err := netip.ParseAddr(m.Host); err != nil && m.Transport.TLS {
		m.Transport.Name = m.Host
	}
	m.URI, m.Header = cmp.Or(rest[end:], "$request_uri"), cmp.Or(asked.Host, host)
	return m, ""
}
