package policy

import (
	"cmp"
	"slices"
	"strings"

	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/settings"
)

// closing are the annotations without which a path would be open, or answer what
// it was not to answer, by what they are when nothing is asked for.
var closing = closingOf(all)

func closingOf(behaviours []behaviour) map[string]func(value string) (off bool) {
	list := map[string]func(string) bool{}
	for _, b := range behaviours {
		for _, doc := range b.Keys {
			for _, name := range append([]string{doc.Key}, doc.Aliases...) {
				if doc.Protects || doc.Closes {
					list[name] = func(value string) bool { return strings.TrimSpace(value) == "" || doc.IsOff(value) }
				}
			}
		}
	}
	for _, k := range known {
		if k.protects {
			list[k.name] = func(value string) bool { return !k.says(value) }
		}
	}
	return list
}

// annotationNames are all names that a user may have meant; of two that are as
// near, the one that closes counts.
var annotationNames = keys.NewNames(closingFirst())

func closingFirst() []string {
	names := slices.Clone(readNames)
	for _, k := range known {
		names = append(names, k.name)
	}
	slices.Sort(names)
	slices.SortStableFunc(names, func(a, b string) int {
		_, first := closing[a]
		_, second := closing[b]
		switch {
		case first == second:
			return 0
		case first:
			return -1
		}
		return 1
	})
	return names
}

// reportUnknown reports an annotation that neither we nor ingress-nginx know. A
// near miss of one that closes is that one with a bad value.
func (r *reader) reportUnknown(name string) {
	if hint := hintOf(name); hint != "" {
		r.report(name, model.Unread, hint, r.closes(otherwise[name], r.given[name]))
		return
	}
	nearest := annotationNames.Nearest(name)
	r.report(name, model.Unread, "no annotation has this name"+keys.DidYouMean(nearest), r.closes(nearest, r.given[name]))
}

// closes reports whether paths must not be served because an annotation was meant
// that closes, with a value that asks for something.
func (r *reader) closes(meant, value string) bool {
	closes := asks(meant, value)
	if closes {
		r.policies.protects = append(r.policies.protects, meant)
	}
	return closes
}

// asks says whether an annotation is one that closes, with a value that asks for
// something.
func asks(name, value string) bool {
	off, closes := closing[name]
	return closes && !off(value)
}

// usualPrefix is that of ingress-nginx. Another one is an administrator's choice,
// and what is near to it may be one as well.
const usualPrefix = "nginx.ingress.kubernetes.io/"

// isAstray is true for an annotation whose prefix is a near miss of ours, which is with
// its slash.
func isAstray(key, prefix string) bool {
	end := strings.IndexByte(key, '/')
	apart := end + len("/") - len(usualPrefix)
	return prefix == usualPrefix && end > 0 && -mostApart <= apart && apart <= mostApart && nearUsual.Nearest(key[:end]) != ""
}

// mostApart is how much longer or shorter a near miss of the prefix may be.
const mostApart = 5

var nearUsual = keys.NewNames([]string{strings.TrimSuffix(usualPrefix, "/")})

// reportAstray reports an annotation whose prefix is a near miss.
func (r *reader) reportAstray(key string) {
	_, name, _ := strings.Cut(key, "/")
	nearest := annotationNames.Nearest(name)
	r.reportField(key, model.Unread, "no annotation has this prefix"+keys.DidYouMean(r.prefix+cmp.Or(nearest, name)), r.closes(nearest, r.astray[key]))
}

// settingNames are the keys of the ConfigMap.
var settingNames = settingNamesOf()

func settingNamesOf() map[string]bool {
	names := map[string]bool{}
	for _, group := range settings.Groups() {
		for _, doc := range group.Keys {
			names[doc.Key] = true
		}
	}
	for _, k := range settings.Unsupported() {
		names[k.Key] = true
	}
	return names
}
