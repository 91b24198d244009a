package keys

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sluice/internal/model"
)

// Known is a key that ingress-nginx 1.15 has and nothing here reads.
type Known struct {
	Key  string
	Fate Fate
	// Off are the words, separated by spaces, that besides an empty value ask for
	// nothing, in any case.
	Off string
	// From is a setting: its value, too, asks for nothing.
	From string
	// Needs are other keys, separated by spaces: without all of them it has no effect.
	Needs string
	// Instead says why nothing is lost without it.
	Instead string
}

// Fate is what becomes of an object with a key that nothing reads.
type Fate string

// The fates. Each comes with a Problem.
const (
	Reported Fate = ""         // nothing else happens
	Idle     Fate = "idle"     // it has no effect in ingress-nginx either
	Denied   Fate = "denied"   // its paths answer 503: serving them would open what was closed
	Withheld Fate = "withheld" // the Ingress is left out: it is meant for few requests, and would get all
)

// False are the words for Off of a boolean. ingress-nginx takes the first three for
// false, and any word that is none of Go's booleans for the default, which is false.
const False = "false f 0 no off"

// OffValues are the values that ask for nothing, the empty one first.
func (k Known) OffValues() []string { return append([]string{""}, strings.Fields(k.Off)...) }

// asks reports whether a value asks for something.
func (k Known) asks(value string) bool { return !isOneOf(strings.TrimSpace(value), k.OffValues()) }

// Gone is what became of a key that ingress-nginx reads no more.
type Gone struct{ Since, Instead string }

// Catalog is what is known of the keys of one kind of object, to judge those that
// nothing reads.
type Catalog struct {
	// Noun is what a key is called; Rest is all else of its object, with the verb.
	Noun, Rest string
	// Read are the keys that something reads, Known the other ones of ingress-nginx.
	Read  []Doc
	Known []Known
	Gone  map[string]Gone
	// Otherwise are names under which some keys are looked for, with the right ones.
	Otherwise map[string]string
	// Elsewhere are the keys that count in another kind of object: Where says so.
	Elsewhere *Catalog
	Where     string

	entries map[string]Known // those that are read as well
	names   Names
}

// NewCatalog gives the catalog, ready for use.
func NewCatalog(c Catalog) *Catalog {
	c.entries = map[string]Known{}
	for _, k := range c.Known {
		c.entries[k.Key] = k
	}
	for _, doc := range c.Read {
		k := Known{Off: strings.Join(doc.Off, " ")}
		if doc.Protects || doc.Closes {
			k.Fate = Denied
		}
		for _, k.Key = range append([]string{doc.Key}, doc.Aliases...) {
			c.entries[k.Key] = k
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

// rank orders names that are as near: the ones that close count first.
func (c *Catalog) rank(name string) int {
	if c.entries[cmp.Or(c.Otherwise[name], name)].Fate == Denied {
		return 0
	}
	return 1
}

// Has is true for a key that something reads or that ingress-nginx has.
func (c *Catalog) Has(key string) bool { return c.entries[key].Key != "" }

// Meant is the key that a name was meant to be, "" if nobody can tell.
func (c *Catalog) Meant(name string) string {
	if c.Otherwise[name] != "" {
		return c.Otherwise[name]
	}
	near := c.names.Nearest(name)
	return cmp.Or(c.Otherwise[near], near)
}

// Closes reports whether a value of a key, which may have been meant only, closes.
func (c *Catalog) Closes(key, value string) bool {
	k := c.entries[key]
	return k.Fate == Denied && k.asks(value)
}

// Verdict is what becomes of a key that nothing reads.
type Verdict struct {
	Reason model.Reason
	Text   string
	Fate   Fate
	// Meant is the key that denies, withholds, or was meant.
	Meant string
}

// Judge says what becomes of a key that is given and that nothing reads. defaults
// are the settings, nil for none.
func (c *Catalog) Judge(key string, given, defaults Lookup) Verdict {
	value, _ := given(key)
	k, known := c.entries[key]
	unsupported := "this " + c.Noun + " of ingress-nginx is not supported yet"
	switch needed, off := c.missing(k, given); {
	case !known:
		return c.unknown(key, value)
	case k.Fate == Idle:
		return Verdict{Reason: model.Unread, Text: "this " + c.Noun + " has no effect, as in ingress-nginx"}
	case k.Instead != "":
		return Verdict{Reason: model.Unsupported, Text: "this " + c.Noun + " of ingress-nginx has no effect: " + k.Instead}
	case !k.asks(value) || k.isDefault(value, defaults):
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

// isDefault is true for the value of the setting that is the default.
func (k Known) isDefault(value string, defaults Lookup) bool {
	if k.From == "" || defaults == nil {
		return false
	}
	inForce, ok := defaults(k.From)
	return ok && strings.EqualFold(strings.TrimSpace(value), inForce)
}

// missing names what a key needs if none of it is asked for, and reports whether all
// of it is switched off in words. What protects counts unless it is.
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

// IsOn is true if one of some keys, which are separated by spaces, is given with a
// value that asks for something.
func (c *Catalog) IsOn(keys string, given Lookup) bool {
	return slices.ContainsFunc(strings.Fields(keys), func(key string) bool {
		value, _ := given(key)
		return c.entries[key].asks(value)
	})
}

// unknown judges a name that neither we nor ingress-nginx know. A near miss of a key
// that closes is that key with a bad value, and so is one that counts elsewhere.
func (c *Catalog) unknown(name, value string) Verdict {
	v := Verdict{Reason: model.Unread, Text: "no " + c.Noun + " has this name"}
	if gone, was := c.Gone[name]; was {
		v.Text = fmt.Sprintf("ingress-nginx reads this %s no more since %s: %s", c.Noun, gone.Since, gone.remedy())
		return v
	}
	in, meant := c, c.Otherwise[name]
	switch {
	case meant != "":
		v.Text += DidYouMean(meant)
	case c.Elsewhere != nil && c.Elsewhere.Has(name):
		in, meant = c.Elsewhere, name
		v.Text = fmt.Sprintf("this is a %s: it counts %s, and not as an %s", in.Noun, c.Where, c.Noun)
	default:
		meant = c.Meant(name)
		v.Text += DidYouMean(meant)
		if meant == "" && c.Elsewhere != nil {
			in, meant = c.Elsewhere, c.Elsewhere.Meant(name)
			v.Text += in.didYouMean(meant, c.Where)
		}
	}
	v.Meant = meant
	if in.Closes(meant, value) {
		v.Fate = Denied
	}
	return v
}

// didYouMean is DidYouMean for a key of this catalog, which counts elsewhere.
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
