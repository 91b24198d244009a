package assemble

import (
	"fmt"
	"slices"
	"strings"

	"sluice/internal/claim"
	"sluice/internal/model"
)

// wwwRedirectKey is the annotation that redirects the other name of a host.
func wwwRedirectKey(owner *claim.Owner) string { return owner.PrefixKey + "from-to-www-redirect" }

// nameOthers gives the hosts the names that are redirected to them. A name that is a host
// or an alias is not redirected; of two hosts with the same other name, that of the
// oldest owner has it.
func (t *Assembly) nameOthers(hosts []*host) {
	var asking []*host
	for _, h := range hosts {
		if h.redirector() != nil {
			asking = append(asking, h)
		}
	}
	if len(asking) == 0 {
		return
	}
	slices.SortStableFunc(asking, func(a, b *host) int { return a.redirector().Age.Compare(b.redirector().Age) })
	served := map[string]*claim.Owner{}
	for _, h := range hosts {
		for _, name := range append([]string{h.name}, h.aliases...) {
			served[name] = h.oldest
		}
	}
	for _, h := range asking {
		t.nameOther(h, served)
	}
}

func (t *Assembly) nameOther(h *host, served map[string]*claim.Owner) {
	owner, other := h.redirector(), OtherName(h.name)
	holder, taken := served[other]
	switch {
	case other == "":
		t.reportOther(owner, model.Unsupported, fmt.Sprintf("want one name as the host: nothing is redirected to %s", hostWords(h.name)))
	case taken && holder != nil && holder.Ref != owner.Ref:
		t.reportOther(owner, model.Conflict, fmt.Sprintf("%s is served as %s says: it is not redirected to %s", claim.Shown(other), holder.Ref, claim.Shown(h.name)))
	case taken:
		t.reportOther(owner, model.NoEffect, fmt.Sprintf("%s is served too: it is not redirected to %s", claim.Shown(other), claim.Shown(h.name)))
	default:
		h.other, served[other] = other, owner
	}
}

func (t *Assembly) reportOther(owner *claim.Owner, reason model.Reason, text string) {
	t.report(model.Problem{Object: owner.Ref, Field: wwwRedirectKey(owner), Reason: reason, Text: text})
}

// redirector is the oldest deciding owner that asks for the redirect, nil for none.
func (h *host) redirector() *claim.Owner {
	for _, rules := range h.deciding {
		if rules.Owner.Annotations.WWWRedirect.Enabled && !rules.Owner.IsDenied() {
			return rules.Owner
		}
	}
	return nil
}

// OtherName is the host without www., or with it; empty for hosts that are no single name.
func OtherName(host string) string {
	if host == "" || strings.HasPrefix(host, "*") {
		return ""
	}
	if bare, ok := strings.CutPrefix(host, "www."); ok && strings.Contains(bare, ".") {
		return bare
	}
	if len(host) > mostName-len("www.") {
		return ""
	}
	return "www." + host
}

// mostName is the length of the longest host name.
const mostName = 253

// addOthers adds the servers that redirect to hosts.
func (t *Assembly) addOthers(servers []*model.Server, hosts []*host) []*model.Server {
	before := len(servers)
	for _, h := range hosts {
		if h.other != "" {
			servers = append(servers, t.otherServer(h))
		}
	}
	if len(servers) > before {
		slices.SortStableFunc(servers, func(a, b *model.Server) int { return strings.Compare(a.Host, b.Host) })
	}
	return servers
}

// otherServer redirects to the host. It stays the same while its content does not change.
func (t *Assembly) otherServer(h *host) *model.Server {
	owner := h.redirector()
	uri := "$redirect_uri"
	if t.Settings.Redirects.PreserveTrailingSlash {
		uri = "$request_uri"
	}
	rule := model.Rule{Object: owner.Ref, Field: wwwRedirectKey(owner), Path: "/", Kind: model.RuleRedirect}
	to := model.Return{Code: t.Settings.Redirects.Code, URL: "$redirect_scheme://" + h.name + uri}
	if s := h.toOther; s == nil || s.Host != h.other || s.Locations[0].Rule != rule || *s.Locations[0].Return != to {
		h.toOther = &model.Server{Host: h.other, Locations: []*model.Location{{Modifier: model.Prefix, Path: "/", Rule: rule, Return: &to}}}
	}
	return h.toOther
}
