package translate

import (
	"cmp"

	"sluice/internal/annotations"
	"sluice/internal/claim"
	"sluice/internal/model"
)

// readMirror parses mirror-target.
func (t *translation) readMirror(ing *owner, asked *annotations.Mirror) *claim.Attached {
	if asked.Target == "" {
		return nil
	}
	to, text := targetOf(asked.Target)
	field := ing.field("mirror-target")
	if text != "" {
		ing.report(field, model.InvalidValue, text+": nothing is mirrored")
		return nil
	}
	if text := t.ownService(ing.Ref.Namespace, asked.Target, to); text != "" {
		ing.report(field, model.Unsupported, text+": nothing is mirrored")
		return nil
	}
	if ing.attaching.Transport.To().Protocol == model.GRPC && asked.Body != "off" {
		ing.report(field, model.Ambiguous, "nginx reads a gRPC request whole before it copies it, so streams of a client do not work, and it sends the copy by HTTP/1.1: want "+ing.PrefixKey+"mirror-request-body: off, or no mirror")
	}
	to.URI, to.Header, to.Field = cmp.Or(to.URI, "$request_uri"), cmp.Or(asked.Host, to.Header), field
	return &claim.Attached{Mirror: to}
}

// field returns the annotation that gives a key: while the objects of a path are read,
// that of the path.
func (i *owner) field(key string) string {
	return cmp.Or(i.attaching, i.Annotations).Field(i.PrefixKey, key)
}
