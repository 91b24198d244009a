package injection

import (
	"flag"
	"hash/fnv"
	"slices"
	"strings"
	"testing"
)

// everything has each value tried in each place: go test ./test/injection -run TestEveryField -everything
var everything = flag.Bool("everything", false, "TestEveryField tries each value in each place, also where others of the same reader have them")

// Places that are read in the same way share the values besides those in breaking: each has
// one of so many, by the hash of its path and the value. Places with a reader of their own have
// all that carries a directive, and share the rest: what a reader does with a character is
// the work of the few functions that all readers call.
const (
	ofAlike = 6
	ofOwn   = 2
)

// breaking are the values that every place has: a directive for each context in which a
// template may print a value without care (bare, in either quotes, in a block, in a comment,
// on a line of its own, in a variable), and what ends a token otherwise.
var breaking = []string{
	"x; " + injected, "x;\n" + injected, "x;\r\n" + injected + "\r\n#", "x\n" + injected, `"; ` + injected + ` "`, `\"; ` + injected + ` \"`, `'; ` + injected + ` '`,
	"} " + injected + " {", `") { } ` + injected + ` if ($host ~ "`, `"} ` + injected + ` location "/y" {`, "x #\n" + injected, `$host"; ` + injected, "${" + injected + "}",
	"x\x00; " + injected, "x\xff\"; " + injected, `\`, "other/neighbour/side/80", "", "true", "1e9",
}

// thin gives the values that a place has in any case, and those that it has if one of the
// first leaves a trace there. Of values that are all tried in a place with the same reader,
// elsewhere, those that break out of a context are kept, and a share of the rest.
func thin(path string, values []string, elsewhere bool) (first, others []string) {
	if *everything {
		return values, nil
	}
	for _, value := range values {
		switch plain := bare(value); {
		case slices.Contains(breaking, plain) || elsewhere && chosen(path, value, ofAlike):
			first = append(first, value)
		case !elsewhere && (!slices.Contains(unarmed, plain) || chosen(path, value, ofOwn)):
			others = append(others, value)
		}
	}
	return first, others
}

// unarmed are the values that carry nothing.
var unarmed = slices.DeleteFunc(slices.Clone(corpus), func(value string) bool { return slices.Contains(attacks, value) })

// bare is a value of the corpus without the slash before it, or the line for a path.
func bare(value string) string {
	if slices.Contains(corpus, value) {
		return value
	}
	return strings.TrimPrefix(strings.TrimPrefix(value, "/specific: "), "/")
}

// chosen gives each value to one of so many places.
func chosen(path, value string, of uint32) bool {
	h := fnv.New32a()
	h.Write([]byte(path + "\x00" + value))
	return h.Sum32()%of == 0
}

// isFurtherKey says whether a place is the key of an entry, of a map of which another key is
// tried before: whichever entry loses its key, the one that takes its place is read in the
// same way.
func isFurtherKey(earlier []place, path string) bool {
	of, isKey := mapOfKey(path)
	return isKey && slices.ContainsFunc(earlier, func(p place) bool {
		other, also := mapOfKey(p.path)
		return also && other == of
	})
}

// mapOfKey is the path of the map of "labels[app]#key", with whether its key is read.
func mapOfKey(path string) (of string, isKey bool) {
	entry, isKey := strings.CutSuffix(path, "]#key")
	if !isKey {
		return "", false
	}
	of, key, _ := strings.Cut(entry, "[")
	if strings.HasPrefix(key, prefix) {
		of += " of ours"
	}
	return of, true
}

func TestThin(t *testing.T) {
	t.Parallel()
	for _, value := range breaking {
		if value != "" && !slices.Contains(corpus, value) {
			t.Errorf("%q is no value of the corpus", value)
		}
	}
	var paths []string
	for _, key := range settingKeys() {
		paths = append(paths, "data["+key+"]")
	}
	for elsewhere, values := range map[bool][]string{true: attacks, false: corpus} {
		for _, value := range values {
			has := func(path string) bool {
				first, others := thin(path, []string{value}, elsewhere)
				return len(first)+len(others) > 0
			}
			if !slices.ContainsFunc(paths, has) {
				t.Errorf("%q is tried nowhere", value)
			}
		}
	}
	if !isFurtherKey([]place{{path: "data[a]#key"}}, "data[b]#key") || isFurtherKey([]place{{path: "data[a]#key"}}, "data[a]") || isFurtherKey([]place{{path: "metadata.labels[a]#key"}}, "data[b]#key") {
		t.Error("a further key is not told from another place")
	}
}
