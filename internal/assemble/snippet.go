package assemble

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"sluice/internal/annotations"
	"sluice/internal/claim"
	"sluice/internal/keys"
	"sluice/internal/model"
)

// serverSnippetKey is the annotation with directives for the server of a host; it is also
// the name of its block.
const serverSnippetKey = "server-snippet"

// serverSnippet is the snippet of a host.
type serverSnippet struct {
	// by is the owner of the snippet, nil for none.
	by *claim.Owner
	// untested is the owner whose snippet would be that of the host, and which waits for a
	// test. The paths of its namespace return 503 until then.
	untested *claim.Owner
	// refused are the owners whose snippets cannot be in the server: their paths return
	// 503.
	refused []refusedSnippet
}

type refusedSnippet struct {
	owner  *claim.Owner
	reason model.Reason
	text   string
}

// serverSnippetBlock is printed in the server.
type serverSnippetBlock struct {
	Text string `json:"text"`
}

// Snippet is the text of the block, for those who read what it does.
func (s serverSnippetBlock) Snippet() keys.ServerSnippet { return keys.ServerSnippet(s.Text) }

// sameSnippet reports whether two snippets differ in nothing but the lines around them. A
// named one ends with a line end, which an annotation may lack.
func sameSnippet(a, b keys.ServerSnippet) bool {
	return strings.TrimSpace(string(a)) == strings.TrimSpace(string(b))
}

// snippetOf is the snippet of an owner: that of its annotation, and its named ones.
func snippetOf(o *claim.Owner) keys.ServerSnippet {
	own, named := o.Annotations.ServerSnippet.Text, o.AttachedTo(o.Annotations.NamedSnippets).ServerSnippet
	if own == "" || named == "" {
		return own + named
	}
	return own + "\n" + named
}

func snippetField(o *claim.Owner) string {
	if o.Annotations.ServerSnippet.Text == "" {
		return annotations.FieldOf(o.PrefixKey, "snippets")
	}
	return o.PrefixKey + serverSnippetKey
}

// placeBesideSnippet makes the locations of a host. A snippet with a location that one of
// these excludes is refused: nginx would name the line of a neighbour as the mistake.
func (t *Assembly) placeBesideSnippet(h *host, in serverInput) *builder {
	var refused []refusedSnippet
	for {
		b := t.place(h, in, refused)
		text := b.excludedBySnippet()
		if text == "" {
			b.remarkSnippets()
			return b
		}
		refused = append(refused, refusedSnippet{b.snippet.by, model.Conflict, text})
	}
}

// printableSnippet is the snippet of an owner, "" if it has none that can be in a server. That of
// an owner whose paths are closed for another reason stays: it may be what protects the paths of
// others. If the whole Ingress is refused, its text may be why, unless nginx ran that before.
func printableSnippet(o *claim.Owner) keys.ServerSnippet {
	if o.Denied && !o.KeepsSnippet {
		return ""
	}
	return snippetOf(o)
}

// decideSnippet decides the snippet of the host. As in ingress-nginx, that of the oldest
// owner counts. It may be what protects the paths of a later owner, so that these return
// 503. Locations of all Ingresses of the host inherit it, so that it is never that of another
// namespace than the oldest one's.
func (b *builder) decideSnippet() {
	for _, rules := range b.host.rules {
		owner, own := rules.Owner, snippetOf(rules.Owner)
		untested := owner.Denial == claim.DenyUntested
		switch by := cmp.Or(b.snippet.by, b.snippet.untested); {
		case own == "" || b.closesSnippet(owner):
		case !untested && printableSnippet(owner) == "":
			b.remarkLeftOut(owner)
		case b.host.name == "":
			b.refuseSnippet(owner, model.InvalidValue, "want a host: the server of requests without one also reads the headers of requests to hosts of others")
		case !b.host.decides(rules):
			b.refuseSnippet(owner, model.NotDelegated, fmt.Sprintf("namespace %s owns %s, and only its Ingresses decide this for the whole host: ask the owner to set it there, or use another host", b.host.oldest.Ref.Namespace, hostWords(b.host.name)))
		case b.host.foreign(rules) && (by == nil || !sameSnippet(own, snippetOf(by))):
			b.refuseSnippet(owner, model.CrossNamespace, fmt.Sprintf("want it in an Ingress of namespace %s, whose %s is the oldest of %s: its directives hold for the paths of all Ingresses there; ask that namespace, or use another host", b.host.oldest.Ref.Namespace, b.host.oldest.Ref, hostWords(b.host.name)))
		case by == nil && len(b.host.heirsOf(rules)) > 0:
			b.refuseInherited(owner, b.host.heirsOf(rules))
		case by == nil && untested:
			b.snippet.untested = owner
		case by == nil:
			b.snippet.by = owner
		case !sameSnippet(own, snippetOf(by)):
			b.refuseSnippet(owner, model.Conflict, fmt.Sprintf("%s decides it for %s, as it is older: write the same there, or use another host", by.Ref, hostWords(b.host.name)))
		case by == b.snippet.untested && !untested:
			b.snippet.by, b.snippet.untested = owner, nil
		}
	}
}

// remarkLeftOut tells that the server has not the snippet of an owner.
func (b *builder) remarkLeftOut(owner *claim.Owner) {
	if len(b.host.rules) > 1 {
		b.remarkSnippet(owner, model.Unsupported, fmt.Sprintf("%s has it not, as this whole Ingress is refused: the paths of other Ingresses there are served without it", hostWords(b.host.name)))
	}
}

// awaitsSnippet reports whether the paths of an owner return 503 until a snippet is tested that
// may protect them.
func (b *builder) awaitsSnippet(o *claim.Owner) bool {
	return b.snippet.untested != nil && b.snippet.untested.Ref.Namespace == o.Ref.Namespace
}

func (b *builder) refuseSnippet(owner *claim.Owner, reason model.Reason, text string) {
	b.snippet.refused = append(slices.Clip(b.snippet.refused), refusedSnippet{owner, reason, text})
}

// closesSnippet reports whether the paths of an owner return 503 because its snippet is
// not in the server.
func (b *builder) closesSnippet(o *claim.Owner) bool {
	return slices.ContainsFunc(b.snippet.refused, func(r refusedSnippet) bool { return r.owner == o })
}

func (b *builder) remarkSnippets() {
	for _, r := range b.snippet.refused {
		b.remarkSnippet(r.owner, r.reason, r.text)
	}
	for _, r := range b.host.rules {
		if r.Owner != b.snippet.untested && b.awaitsSnippet(r.Owner) {
			b.tell(model.Problem{Object: r.Owner.Ref, Field: r.Owner.HostField(b.host.name), Reason: model.Untested, Denies: true,
				Text: fmt.Sprintf("the server-snippet of %s, which may protect these paths on %s, waits for a separate test: they answer 503 until then", b.snippet.untested.Ref, hostWords(b.host.name))})
		}
	}
}

func (b *builder) remarkSnippet(owner *claim.Owner, reason model.Reason, text string) {
	b.tell(model.Problem{Object: owner.Ref, Field: snippetField(owner), Reason: reason, Text: text, Denies: true})
}

// excludedBySnippet makes room for the locations of the snippet, and returns the reason
// why there is none for one of them, "" if there is for all.
func (b *builder) excludedBySnippet() string {
	if b.snippet.by == nil {
		return ""
	}
	patterns := false
	for _, own := range snippetOf(b.snippet.by).Locations() {
		patterns = patterns || own.IsPattern()
		if slices.ContainsFunc(b.locations, func(l *model.Location) bool { return duplicates(own, l) }) || b.isInternal(own.Path) {
			return fmt.Sprintf("want no location %s in it: a path of %s is that location already", model.Quoted(own.Path), hostWords(b.host.name))
		}
	}
	if !patterns {
		return ""
	}
	return b.admitPatterns()
}

// admitPatterns lets nginx try the patterns of the snippet before prefixes, as in
// ingress-nginx. That must not change which path of the rules a request belongs to.
func (b *builder) admitPatterns() string {
	first := func(l *model.Location) bool {
		return l.Modifier == model.PrefixFirst && l.Rule.Kind != model.RuleClosed
	}
	own := func(l *model.Location) bool { return l.Modifier == model.Pattern }
	if !slices.ContainsFunc(b.locations, first) {
		return ""
	}
	if slices.ContainsFunc(b.locations, own) {
		return fmt.Sprintf("want no location with a pattern in it: some paths of %s are patterns and others are not, so that nginx would try it behind the others only", hostWords(b.host.name))
	}
	for _, l := range b.locations {
		if first(l) {
			l.Modifier = model.Prefix
		}
	}
	b.sort()
	return ""
}

// isInternal reports whether a location of Sluice has a path or a name of a snippet.
func (b *builder) isInternal(path string) bool {
	name, named := strings.CutPrefix(path, "@")
	return strings.HasPrefix(path, model.InternalPrefix) || named && (name == model.MissName || b.internals.has(name))
}

// duplicates reports whether nginx takes a location of a snippet for the same as another.
func duplicates(own keys.SnippetLocation, l *model.Location) bool {
	prefix := func(modifier string) bool {
		return modifier == string(model.Prefix) || modifier == string(model.PrefixFirst)
	}
	return own.Path == l.Path && (own.Modifier == string(l.Modifier) && l.Modifier != model.Pattern || prefix(own.Modifier) && prefix(string(l.Modifier)))
}

// snippetBlocks are the blocks of the snippet.
func (b *builder) snippetBlocks() []model.Block {
	if b.snippet.by == nil {
		return nil
	}
	return []model.Block{annotations.BlockOf(b.snippet.by.Ref, serverSnippetKey, serverSnippetBlock{string(snippetOf(b.snippet.by))})}
}
