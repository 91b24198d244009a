package translate

import (
	"net/netip"
	"net/url"
	"strings"

	"sluice/internal/claim"
	"sluice/internal/model"
)

// targetOf parses a URL with no variables in its host; text is the fault of an invalid
// one. Like that of an ExternalName Service, the controller resolves the host, and
// refuses addresses of this machine, its link and its cloud's metadata.
func targetOf(asked string) (t *claim.Target, text string) {
	scheme, rest, _ := strings.Cut(asked, "://")
	end := strings.IndexAny(rest+"/", "/?$")
	at, err := url.Parse(scheme + "://" + rest[:end])
	if err != nil {
		return nil, "want the URL of a host (got " + model.Quoted(asked) + ")"
	}
	host := at.Hostname()
	if _, _, text := whereIs(host); text != "" {
		return nil, "want another host: " + model.Quoted(host) + " " + text
	}
	t = &claim.Target{Host: strings.ToLower(strings.TrimSuffix(host, ".")), Port: at.Port(), Transport: model.Transport{TLS: scheme == "https"}, URI: rest[end:], Header: host}
	if strings.Contains(host, ":") {
		t.Header = "[" + host + "]"
	}
	if t.Port == "" {
		t.Port = map[bool]string{false: "80", true: "443"}[t.Transport.TLS]
	}
	// The certificate is not verified, as in ingress-nginx; the name is sent by SNI.
	if _, err := netip.ParseAddr(t.Host); err != nil && t.Transport.TLS {
		t.Transport.Name = t.Host
	}
	return t, ""
}
