package keys

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sluice/internal/model"
)

// Known is a key of ingress-nginx 1.15 that Sluice does not read.
type Known struct {
	Key  string
	Fate Fate
	// Off are the values, separated by spaces, that turn the key off in any case,
	// besides an empty value.
	Off string
	// Needs are other keys, separated by spaces. Unless all of them are set, the key
	// has no effect.
	Needs string
	// Instead is the reason why nothing is lost without the key.
	Instead string
}

// Fate is the effect of an unread key on its object.
type Fate string

// The fates. Each causes a Problem.
const (
	Reported Fate = ""         // no other effect
	Idle     Fate = "idle"     // it has no effect in ingress-nginx either
	Denied   Fate = "denied"   // its paths return 503, because they would otherwise be open
	Withheld Fate = "withheld" // the Ingress is left out, because it is meant for few requests and would get all
)

// OffValues returns the values that turn the key off, the empty one first.
func (k Known) OffValues() []string { return append([]string{""}, strings.Fields(k.Off)...) }

// asks reports whether a value turns the key on.
func (k Known) asks(value string) bool { return !isOneOf(strings.TrimSpace(value), k.OffValues()) }

// Gone describes a key that ingress-nginx no longer reads.
type Gone struct{ Since, Instead string }

// Catalog describes the keys of one kind of object, to judge unread ones.
type Catalog struct {
	// Noun is the word for a key. Rest is the subject and verb for the rest of its
	// object.
	Noun, Rest string
	// Read are the keys that Sluice reads, Known the other ones of ingress-nginx.
	Read  []Doc
	Known []Known
	Gone  map[string]Gone
	// OwnPrefix is the prefix of the keys in Read that are ours, for messages.
	OwnPrefix string
	// Otherwise maps wrong names under which users look for keys to the right ones.
	Otherwise map[string]string
	// Elsewhere are the keys of another kind of object; Where names it.
	Elsewhere *Catalog
	Where     string

	entries map[string]Known // including the keys that are read
	own     map[string]bool
	names   Names
}

// NewCatalog prepares a catalog.
func NewCatalog(c Catalog) *Catalog {
	c.entries, c.own = map[string]Known{}, map[string]bool{}
	for _, k := range c.Known {
		c.entries[k.Key] = k
	}
	for _, doc := range c.Read {
		k := Known{Off: strings.Join(doc.Off, " ")}
		switch {
		case doc.Protects || doc.Closes:
			k.Fate = Denied
		case doc.Withholds:
			k.Fate = Withheld
		}
		for _, k.Key = range doc.Names {
			c.entries[k.Key], c.own[k.Key] = k, doc.Own
		}
	}
	names := slices.Sorted(maps.Keys(c.entries))
	for _, name := range slices.Sorted(maps.Keys(c.Otherwise)) {
		if !c.Has(name) {
			names = append(names, name)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return c.rank(a) - c.rank(b) })
	c.names = NewNames(names)
	return &c
}

// rank orders names that are equally near: those that close come first.
func (c *Catalog) rank(name string) int {
	if c.entries[cmp.Or(c.Otherwise[name], name)].Fate == Denied {
		return 0
	}
	return 1
}

// Has reports whether Sluice or ingress-nginx reads a key.
func (c *Catalog) Has(key string) bool { return c.entries[key].Key != "" }

// Meant returns the key that a name probably means, "" if there is none.
func (c *Catalog) Meant(name string) string {
	if c.Otherwise[name] != "" {
		return c.Otherwise[name]
	}
	near := c.names.Nearest(name)
	return cmp.Or(c.Otherwise[near], near)
}

// Closes reports whether a value of a key closes paths. The key can be a probable
// meaning.
func (c *Catalog) Closes(key, value string) bool {
	k := c.entries[key]
	return k.Fate == Denied && k.asks(value)
}

// Withholds reports whether a value of a key keeps most requests from its object.
func (c *Catalog) Withholds(key, value string) bool {
	k := c.entries[key]
	return k.Fate == Withheld && k.asks(value)
}

// Verdict is the effect of an unread key.
type Verdict struct {
	Reason model.Reason
	Text   string
	Fate   Fate
	// Meant is the key that denies or withholds, or the probable meaning.
	Meant string
}

// Judge returns the effect of a given key that Sluice does not read.
func (c *Catalog) Judge(key string, given Lookup) Verdict {
	value, _ := given(key)
	k, known := c.entries[key]
	unsupported := "this " + c.Noun + " of ingress-nginx is not supported yet"
	switch needed, off := c.missing(k, given); {
	case !known:
		return c.unknown(key, value)
	case k.Fate == Idle:
		return Verdict{Reason: model.NoEffect, Text: "this " + c.Noun + " has no effect, as in ingress-nginx"}
	case k.Instead != "":
		return Verdict{Reason: model.NoEffect, Text: "this " + c.Noun + " of ingress-nginx has no effect: " + k.Instead}
	case !k.asks(value):
		return Verdict{Reason: model.NoEffect, Text: unsupported + ", and its value changes nothing"}
	case off:
		return Verdict{Reason: model.NoEffect, Text: "it has no effect, as " + needed + " asks for nothing"}
	case needed != "":
		return Verdict{Reason: model.Unread, Text: "it has no effect without " + needed}
	case k.Fate == Reported:
		unsupported += ": it is ignored, and " + c.Rest + " followed"
	}
	return Verdict{Reason: model.Unsupported, Text: unsupported, Fate: k.Fate, Meant: key}
}

// missing returns the needed keys of which none is on, and reports whether all of
// them are off explicitly. A protecting key misses nothing unless they are.
func (c *Catalog) missing(k Known, given Lookup) (needed string, off bool) {
	needs := strings.Fields(k.Needs)
	off = len(needs) > 0
	for _, need := range needs {
		if c.IsOn(need, given) {
			return "", false
		}
		value, _ := given(need)
		off = off && strings.TrimSpace(value) != ""
	}
	if k.Fate == Denied && !off {
		return "", false
	}
	return model.OneOf(needs), off
}

// IsOn reports whether one of several keys, separated by spaces, is given with a
// value that turns it on.
func (c *Catalog) IsOn(keys string, given Lookup) bool {
	return slices.ContainsFunc(strings.Fields(keys), func(key string) bool {
		value, _ := given(key)
		return c.entries[key].asks(value)
	})
}

// unknown judges a name that neither Sluice nor ingress-nginx reads. A near miss of a
// key that closes counts as that key with a bad value, also if it belongs to another
// kind of object.
func (c *Catalog) unknown(name, value string) Verdict {
	v := Verdict{Reason: model.Unread, Text: "no " + c.Noun + " has this name"}
	if gone, was := c.Gone[name]; was {
		v.Text = fmt.Sprintf("ingress-nginx reads this %s no more since %s: %s", c.Noun, gone.Since, gone.remedy())
		return v
	}
	in, meant := c, c.Otherwise[name]
	switch {
	case meant != "":
		v.Text += DidYouMean(c.whole(meant))
	case c.Elsewhere != nil && c.Elsewhere.Has(name):
		in, meant = c.Elsewhere, name
		v.Text = fmt.Sprintf("this is a %s: it counts %s, and not as an %s", in.Noun, c.Where, c.Noun)
	default:
		meant = c.Meant(name)
		v.Text += DidYouMean(c.whole(meant))
		if meant == "" && c.Elsewhere != nil {
			in, meant = c.Elsewhere, c.Elsewhere.Meant(name)
			v.Text += in.didYouMean(meant, c.Where)
		}
	}
	v.Meant = meant
	switch {
	case in.Closes(meant, value):
		v.Fate = Denied
	case in.Withholds(meant, value):
		v.Fate = Withheld
	}
	return v
}

// whole returns a key with the prefix that it has if it is ours.
func (c *Catalog) whole(key string) string {
	if c.own[key] {
		return c.OwnPrefix + key
	}
	return key
}

// didYouMean is DidYouMean for a key of this catalog, for use in another one.
func (c *Catalog) didYouMean(key, where string) string {
	if key == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean the %s %q, which counts %s?", c.Noun, key, where)
}

func (g Gone) remedy() string {
	if g.Instead == "" {
		return "remove it"
	}
	return "write " + g.Instead + " instead"
}
