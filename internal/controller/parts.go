package controller

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/annotations"
	"sluice/internal/model"
	"sluice/internal/render"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// part returns a configuration with only some of the servers. It has a catch-all
// server, if necessary without locations, because nginx needs one.
func part(s model.Static, servers []*model.Server) model.Static {
	kept := []*model.Server{}
	if len(servers) == 0 || servers[0].Host != "" || servers[0].AliasesOnly {
		kept = append(kept, &model.Server{})
	}
	if len(servers) == 0 {
		// A snippet for all locations is tested with the settings.
		kept[0].Locations = []*model.Location{{Modifier: model.Prefix, Path: "/", Rule: model.Rule{Kind: model.RuleFallback}, Return: &model.Return{Code: http.StatusNotFound}}}
	}
	return model.Static{Blocks: s.Blocks, Servers: append(kept, servers...)}
}

// fileOf translates and renders some forms of Ingresses alone, with those that the plan
// serves on their hosts and that count. Nothing of any other Ingress can be left in it. If
// open is set, their paths that the plan closes are served. The file then lacks the closed ones
// among the others: one of them may close the host, and hide the forms.
func (p *plan) fileOf(forms []*networkingv1.Ingress, open bool, counts func(model.ObjectRef) bool) *render.File {
	options := p.options
	if open {
		options.Denied = nil
		counted := counts
		counts = func(o model.ObjectRef) bool { return counted(o) && p.options.Denied[o] == 0 }
	}
	all := append(slices.Clip(forms), p.beside(forms, counts)...)
	return p.render(translated(p.served.OnlyIngresses(all), options))
}

// beside returns the Ingresses that a plan serves on the hosts of others, and that count.
func (p *plan) beside(forms []*networkingv1.Ingress, counts func(model.ObjectRef) bool) (some []*networkingv1.Ingress) {
	own, hosts := map[model.ObjectRef]bool{}, map[string]bool{}
	for _, ing := range forms {
		own[snapshot.RefOf(ing)] = true
		maps.Copy(hosts, hostsOf(ing, p.options.AnnotationsPrefix))
	}
	for _, ing := range p.served.Ingresses() {
		if o := snapshot.RefOf(ing); !own[o] && onAny(ing, p.options.AnnotationsPrefix, hosts) && counts(o) {
			some = append(some, ing)
		}
	}
	return some
}

// translated translates objects without the TCP and UDP services of ConfigMaps.
func translated(objects *snapshot.Snapshot, options translate.Options) model.Static {
	config, _ := translate.Config(objects, options, nil)
	streams := config.Static.Streams
	config.Static.Streams = nil
	for _, s := range streams {
		if snapshot.IsIngress(s.Source) {
			config.Static.Streams = append(config.Static.Streams, s)
		}
	}
	return config.Static
}

// hostsOf are the hosts and aliases of an Ingress, "" for that of requests to no other.
func hostsOf(ing *networkingv1.Ingress, prefix string) map[string]bool {
	hosts := map[string]bool{}
	for _, rule := range ing.Spec.Rules {
		hosts[rule.Host] = true
	}
	if ing.Spec.DefaultBackend != nil && len(ing.Spec.Rules) == 0 {
		hosts[""] = true
	}
	for alias := range strings.SplitSeq(ing.Annotations[prefix+"/server-alias"], ",") {
		if alias = strings.TrimSpace(alias); alias != "" {
			hosts[alias] = true
		}
	}
	return hosts
}

func onAny(ing *networkingv1.Ingress, prefix string, hosts map[string]bool) bool {
	for host := range hostsOf(ing, prefix) {
		if hosts[host] {
			return true
		}
	}
	return false
}

// untyped are the behaviours with values that only nginx reads: directives, patterns,
// variables, ciphers, names that it resolves, and certificates.
var untyped = map[string]bool{
	"configuration-snippet": true, "server-snippet": true, "stream-snippet": true, "named-snippets": true,
	"modsecurity": true, "external-auth": true, "ssl-ciphers": true, "client-certificates": true, "client-check": true,
	"transport": true, "regex": true, "rewrite": true, "server-alias": true, "mirror": true, "match": true,
	"upstream-hash-by": true, "custom-headers": true, "sub-filter": true, "answer-rewrites": true, "caching": true,
	"request-headers": true, "upstream-host": true,
}

// isUntyped reports whether an Ingress has annotations that only nginx can judge.
func isUntyped(ing *networkingv1.Ingress, prefix string) bool {
	for _, behaviour := range annotations.All() {
		if !untyped[behaviour.Name] {
			continue
		}
		for _, doc := range behaviour.Keys {
			for _, name := range doc.Names {
				for _, begin := range []string{prefix + "/", annotations.OwnPrefix, annotations.PathsPrefix} {
					if ing.Annotations[begin+name] != "" {
						return true
					}
				}
			}
		}
	}
	return false
}
