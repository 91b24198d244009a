package assemble

import (
	"cmp"
	"fmt"

	"sluice/internal/claim"
	"sluice/internal/model"
)

// ownCiphers are the ciphers that an owner asks for, empty for those of the controller.
func (b *builder) ownCiphers(o *claim.Owner) string {
	if list := o.Annotations.Ciphers.List; list != b.Settings.TLS.Ciphers {
		return list
	}
	return ""
}

// decideCiphers decides the ciphers of the host: for each annotation, the oldest owner that
// has it. They restrict no access, so that those of later owners are left out.
func (b *builder) decideCiphers() {
	var list, prefer *claim.Owner
	for _, rules := range b.host.deciding {
		owner, asked := rules.Owner, rules.Owner.Annotations.Ciphers
		switch {
		case b.ownCiphers(owner) == "" && asked.Prefer == "" || owner.Denied:
			continue
		case b.host.name == "":
			b.remarkCiphers(owner, model.InvalidValue, "want a host: the TLS of requests without one is that of hosts of others")
			continue
		}
		list = b.firstWith(list, owner, "ssl-ciphers", b.ownCiphers)
		prefer = b.firstWith(prefer, owner, "ssl-prefer-server-ciphers", func(o *claim.Owner) string { return string(o.Annotations.Ciphers.Prefer) })
	}
	b.ciphersBy = cmp.Or(list, prefer)
	if list != nil {
		b.ciphers = b.ownCiphers(list)
	}
	if prefer != nil {
		b.preferCiphers = "off"
		if prefer.Annotations.Ciphers.Prefer == "true" {
			b.preferCiphers = "on"
		}
	}
}

// firstWith returns the first owner with a value, and reports a later one that differs.
func (b *builder) firstWith(first, owner *claim.Owner, key string, value func(*claim.Owner) string) *claim.Owner {
	switch own := value(owner); {
	case own == "":
	case first == nil:
		return owner
	case own != value(first):
		b.tell(model.Problem{Object: owner.Ref, Field: owner.PrefixKey + key, Reason: model.Conflict,
			Text: fmt.Sprintf("%s decides the ciphers of %s, as it is older: write the same there, or use another host", first.Ref, hostWords(b.host.name))})
	}
	return first
}

func (b *builder) remarkCiphers(owner *claim.Owner, reason model.Reason, text string) {
	b.tell(model.Problem{Object: owner.Ref, Field: b.ciphersKey(owner), Reason: reason, Text: text})
}

// ciphersKey is the annotation by which an owner sets ciphers.
func (b *builder) ciphersKey(o *claim.Owner) string {
	if b.ownCiphers(o) == "" {
		return o.PrefixKey + "ssl-prefer-server-ciphers"
	}
	return o.PrefixKey + "ssl-ciphers"
}

// ownTLS is the TLS of the server, nil for that of the catch-all server.
func (b *builder) ownTLS() *model.ServerTLS {
	tls := model.ServerTLS{Ciphers: b.ciphers, PreferCiphers: b.preferCiphers}
	if b.ciphersBy != nil {
		tls.CiphersFrom = b.ciphersBy.Ref
	}
	if c := b.clients; c.by != nil && c.verify != verifyOff {
		tls.Clients = &model.ClientTrust{Verify: c.verify, ClientCA: *c.ca, Source: c.by.Ref}
	}
	if tls == (model.ServerTLS{}) {
		return nil
	}
	return &tls
}
