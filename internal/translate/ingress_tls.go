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
	for at, item := range i.object.Spec.TLS {
		i.TLS = append(i.TLS, claim.TLSItem{Hosts: item.Hosts, Secret: snapshot.Name{Namespace: namespace, Name: item.SecretName}, Field: fmt.Sprintf("spec.tls[%d].secretName", at)})
	}
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
	for at, item := range i.object.Spec.TLS {
		for n, host := range item.Hosts {
			named := slices.ContainsFunc(i.object.Spec.Rules, func(rule networkingv1.IngressRule) bool {
				other := i.Annotations.WWWRedirect.Enabled && claim.Related(host, assemble.OtherName(rule.Host))
				return other || claim.Related(host, rule.Host)
			})
			// An alias has the certificate of its host, so issuers of certificates need the entry.
			if !named && !slices.ContainsFunc(i.Aliases, func(alias string) bool { return claim.Related(host, alias) }) {
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
