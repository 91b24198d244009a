package annotations

import (
	"cmp"
	"strings"

	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/settings"
)

// place stores an annotation with our prefix, or with a near miss of it. newByPath has
// stored those for single paths.
func (r *reader) place(key, value string) {
	name, ours := strings.CutPrefix(key, r.prefix)
	own, below := strings.CutPrefix(key, OwnPrefix)
	switch prefix, meant := meantKey(key, r.prefix); {
	case strings.HasPrefix(key, PathsPrefix):
	case below && docOf[own].Own:
		r.given[own] = value
	case ours && docOf[name].Own:
		r.astray[key] = astray{OwnPrefix, name, value}
	case ours && (prefix == "" || r.catalog.Meant(name) != ""):
		r.given[name] = value
	case prefix != "":
		r.astray[key] = astray{prefix, meant, value}
	}
}

// astray is an annotation with a near miss of a prefix. prefix and name are the probable
// meaning.
type astray struct{ prefix, name, value string }

// meantKey returns the prefix and the name that a key probably means, if its prefix is a
// near miss of ours, which ends with a slash; "" otherwise.
func meantKey(key, ours string) (prefix, name string) {
	of, rest, slashed := strings.Cut(key, "/")
	own := strings.TrimSuffix(ours, "/")
	if !slashed {
		rest, begins := strings.CutPrefix(key, own)
		if begins && rest != "" && strings.Contains(joiners, rest[:1]) && catalog.Meant(rest[1:]) != "" {
			return ours, rest[1:]
		}
		return "", ""
	}
	of, before := cutPaths(of)
	name, behind := cutPaths(rest)
	sluice := nearSluice.Nearest(of) != ""
	switch usual := of == own || own == usualPrefix && isNear(of); {
	case (before || behind) && (sluice || usual):
		return PathsPrefix, name
	case sluice && catalog.Meant(endOf(name)) != "":
		return ours, endOf(name)
	case usual && of != own:
		return ours, name
	}
	return "", ""
}

// isNear reports whether a prefix is a near miss of the usual prefix.
func isNear(of string) bool {
	apart := len(of) - len(usualPrefix)
	return -mostApart <= apart && apart <= mostApart && nearUsual.Nearest(of) != ""
}

// usualPrefix is the prefix of ingress-nginx. Near misses of any other prefix do not count,
// because an administrator may use them for another controller.
const usualPrefix = settings.UsualPrefix

// mostApart is the maximum difference in length of a near miss of the prefix.
const mostApart = 5

var (
	nearUsual  = keys.NewNames([]string{usualPrefix})
	nearSluice = keys.NewNames([]string{"sluice", "sluice.io"})
	nearPaths  = keys.NewNames([]string{"paths"})
)

// joiners separate the parts of a name, some of them by mistake.
const joiners = "._-/"

// cutPaths removes "paths", with or without "sluice.io" before it, from the beginning of a
// name. It accepts near misses.
func cutPaths(name string) (rest string, cut bool) {
	text := name
	for _, lead := range []string{"sluice", "io"} {
		if first, behind, ok := cutPart(text); ok && strings.EqualFold(first, lead) && strings.ContainsAny(behind, joiners) {
			text = behind
		}
	}
	if first, behind, ok := cutPart(text); ok && behind != "" && nearPaths.Nearest(first) != "" {
		return behind, true
	}
	return name, false
}

// cutPart splits a name after its first part.
func cutPart(name string) (first, rest string, ok bool) {
	at := strings.IndexAny(name, joiners)
	if at < 0 {
		return name, "", false
	}
	return name[:at], name[at+1:], true
}

// endOf returns the end of a name that is the name of a protecting annotation, or else the
// whole name.
func endOf(name string) string {
	for end, ok := name, true; ok; _, end, ok = cutPart(end) {
		if catalog.Closes(end, anyValue) {
			return end
		}
	}
	return name
}

// reportAstray reports an annotation whose prefix is a near miss.
func (r *reader) reportAstray(key string) {
	a := r.astray[key]
	meant := r.catalog.Meant(a.name)
	denies := r.catalog.Closes(meant, a.value)
	if denies {
		r.general.protects = append(r.general.protects, meant)
	}
	right := a.prefix + cmp.Or(meant, a.name)
	if a.prefix != PathsPrefix {
		right = FieldOf(a.prefix, cmp.Or(meant, a.name))
	}
	text := "no annotation has this prefix"
	if written, _, _ := strings.Cut(key, "/"); written+"/" == OwnPrefix && strings.HasPrefix(right, OwnPrefix) {
		text = "no annotation has this name"
	}
	text += keys.DidYouMean(right)
	if r.catalog.Withholds(meant, a.value) {
		text = r.withhold(text)
	}
	r.reportField(key, model.Unread, text, denies)
}

// withhold leaves out the Ingress, and adds that to a text.
func (r *reader) withhold(text string) string {
	if r.layer != nil {
		return text // its Ingresses would not have the annotation in any case
	}
	r.of.withheld = true
	return model.Add(text, ": ", "the Ingress is left out, as it would get all requests without it")
}
