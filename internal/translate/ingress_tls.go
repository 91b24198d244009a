package translate

import (
	"fmt"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/assemble"
	"sluice/internal/claim"
	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// readTLS reads the TLS section. Its Secrets are in one namespace, because an API
// server accepts no reference to another one there.
func (i *owner) readTLS(namespace string) {
	i.TLSField = "spec.tls"
	var items []claim.TLSItem
	for at, item := range i.object.Spec.TLS {
		items = append(items, claim.TLSItem{Hosts: item.Hosts, Secret: snapshot.Name{Namespace: namespace, Name: item.SecretName}, Field: fmt.Sprintf("spec.tls[%d].secretName", at)})
	}
	i.TLS = claim.NewTLS(items)
}

// hostlessTLS reports the TLS section of an Ingress without a host.
func (i *owner) hostlessTLS() {
	if len(i.object.Spec.TLS) > 0 {
		i.report("spec.tls", model.Unsupported, "rules without a host are served with the default certificate: name a host")
	}
}

// unusedTLS reports hosts of the TLS section that no rule, no alias and no redirect has. Invalid rules
// count too, because they have a Problem of their own.
func (i *owner) unusedTLS() {
	// An alias has the certificate of its host, so issuers of certificates need the entry.
	hosts := slices.Clone(i.Aliases)
	for _, rule := range i.object.Spec.Rules {
		hosts = append(hosts, rule.Host)
		if i.Annotations.WWWRedirect.Enabled {
			hosts = append(hosts, assemble.OtherName(rule.Host))
		}
	}
	named := claim.NamesOf(hosts)
	for at, item := range i.object.Spec.TLS {
		for n, host := range item.Hosts {
			if !named.Related(host) {
				i.report(fmt.Sprintf("spec.tls[%d].hosts[%d]", at, n), model.NoEffect, fmt.Sprintf("no rule of this Ingress has the host %s: the entry has no effect", model.Quoted(host)))
			}
		}
	}
}

// unusedSecretNamespace reports a namespace for Secrets if no item names a Secret.
func (i *owner) unusedSecretNamespace(namespace string) {
	named := func(item networkingv1.IngressTLS) bool { return item.SecretName != "" }
	if namespace != i.object.Namespace && !slices.ContainsFunc(i.object.Spec.TLS, named) {
		i.report(i.PrefixKey+"tls-cert-namespace", model.Unread, "it has no effect without a spec.tls[].secretName")
	}
}
