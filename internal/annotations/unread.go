package annotations

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"sluice/internal/keys"
	"sluice/internal/model"
)

// readNames are the names, aliases included, that some behaviour reads.
var readNames = namesOf(docsOf(behaviours))

// IsRead is true for an annotation, without its prefix, that some behaviour reads.
func IsRead(name string) bool {
	_, read := slices.BinarySearch(readNames, name)
	return read
}

func namesOf(docs []keys.Doc) []string {
	var names []string
	for _, doc := range docs {
		names = append(append(names, doc.Key), doc.Aliases...)
	}
	slices.Sort(names)
	return names
}

// unread reports the annotations that no behaviour reads: those with our prefix,
// and those with one that may have been meant to be it.
func (r *reader) unread() {
	for _, name := range slices.Sorted(maps.Keys(r.given)) {
		if !IsRead(name) {
			r.reportUnread(name)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(r.astray)) {
		r.reportAstray(key)
	}
}

func (r *reader) reportUnread(name string) {
	v := r.catalog.Judge(name, r.lookup, r.settings.Value)
	switch v.Fate {
	case keys.Denied:
		r.general.protects = append(r.general.protects, v.Meant)
	case keys.Withheld:
		r.of.withheld = true
		v.Text = model.Add(v.Text, ": ", "the Ingress is left out, as it would get all requests without it")
	}
	r.report(name, v.Reason, v.Text, v.Fate == keys.Denied)
}

// usualPrefix is that of ingress-nginx. Another one is an administrator's choice,
// and what is near to it may be one as well.
const usualPrefix = "nginx.ingress.kubernetes.io/"

// isAstray is true for an annotation whose prefix is a near miss of ours, which is with
// its slash.
func isAstray(key, prefix string) bool {
	if meantPath(key) != "" {
		return true
	}
	end := strings.IndexByte(key, '/')
	apart := end + len("/") - len(usualPrefix)
	return prefix == usualPrefix && end > 0 && -mostApart <= apart && apart <= mostApart && nearUsual.Nearest(key[:end]) != ""
}

// mostApart is how much longer or shorter a near miss of the prefix may be.
const mostApart = 5

var nearUsual = keys.NewNames([]string{strings.TrimSuffix(usualPrefix, "/")})

// reportAstray reports an annotation whose prefix is a near miss.
func (r *reader) reportAstray(key string) {
	prefix := r.prefix
	_, name, _ := strings.Cut(key, "/")
	if path := meantPath(key); path != "" {
		prefix, name = PathsPrefix, path
	}
	meant := r.catalog.Meant(name)
	denies := r.catalog.Closes(meant, r.astray[key])
	if denies {
		r.general.protects = append(r.general.protects, meant)
	}
	r.reportField(key, model.Unread, "no annotation has this prefix"+keys.DidYouMean(prefix+cmp.Or(meant, name)), denies)
}

// meantPath gives the name behind what may have been meant to be PathsPrefix; "" for
// a key that was not.
func meantPath(key string) string {
	of, rest, _ := strings.Cut(key, "/")
	first, name, dotted := strings.Cut(rest, ".")
	if !dotted || of+"/"+first+"." == PathsPrefix || nearSluice.Nearest(of) == "" || nearPaths.Nearest(first) == "" {
		return ""
	}
	return name
}

var (
	nearSluice = keys.NewNames([]string{"sluice", "sluice.io"})
	nearPaths  = keys.NewNames([]string{"paths"})
)
