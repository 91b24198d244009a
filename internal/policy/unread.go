package policy

import (
	"maps"
	"slices"
	"strings"

	"sluice/internal/keys"
	"sluice/internal/model"
)

// readNames are the names, aliases included, that some behaviour reads.
var readNames = namesOf(all)

func namesOf(behaviours []behaviour) []string {
	var names []string
	for _, b := range behaviours {
		for _, doc := range b.Keys {
			names = append(append(names, doc.Key), doc.Aliases...)
		}
	}
	slices.Sort(names)
	return names
}

// unread reports the annotations that no behaviour reads: those with our prefix,
// and those with one that may have been meant to be it.
func (r *reader) unread() {
	for _, name := range slices.Sorted(maps.Keys(r.given)) {
		if _, read := slices.BinarySearch(readNames, name); !read {
			r.reportUnread(name)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(r.astray)) {
		r.reportAstray(key)
	}
}

func (r *reader) reportUnread(name string) {
	at := slices.IndexFunc(known, func(k knownAnnotation) bool { return k.name == name })
	if at < 0 {
		r.reportUnknown(name)
		return
	}
	k := known[at]
	const unsupported = "this annotation of ingress-nginx is not supported yet"
	switch {
	case k.idle:
		r.report(name, model.Unread, "this annotation has no effect, as in ingress-nginx", false)
	case !k.says(r.given[name]):
		r.report(name, model.NoEffect, unsupported+", and its value asks for nothing", false)
	case k.withholds:
		r.policies.withheld = true
		r.report(name, model.Unsupported, unsupported+": the Ingress is left out, as it would get all requests without it", false)
	case k.protects:
		r.policies.protects = append(r.policies.protects, name)
		r.report(name, model.Unsupported, unsupported, true)
	default:
		r.report(name, model.Unsupported, unsupported, false)
	}
}

// says is true if a value is neither empty nor the one by which nothing is
// asked for.
func (k knownAnnotation) says(value string) bool {
	value = strings.TrimSpace(value)
	return value != "" && !strings.EqualFold(value, k.off)
}

// Unsupported lists the annotations of ingress-nginx that no behaviour reads, by
// name.
func Unsupported() []keys.Unsupported {
	list := make([]keys.Unsupported, len(known))
	for i, k := range known {
		list[i] = keys.Unsupported{Key: k.name, Fate: k.fate()}
		for _, value := range []string{"", k.off} {
			if !(k.protects && k.says(value)) && !slices.Contains(list[i].Off, value) {
				list[i].Off = append(list[i].Off, value)
			}
		}
	}
	return list
}

func (k knownAnnotation) fate() keys.Fate {
	switch {
	case k.idle:
		return keys.Idle
	case k.withholds:
		return keys.Withheld
	case k.protects:
		return keys.Denied
	}
	return keys.Reported
}
