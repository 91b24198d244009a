package diff

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"sluice/internal/explain"
	"sluice/internal/model"
	"sluice/internal/render"
)

// Lines are the lines of one owner in nginx.conf, within one server or outside of servers.
type Lines struct {
	// Object is the owner; empty for Sluice itself, and for the settings if only one side has
	// a ConfigMap for them.
	Object model.ObjectRef `json:"object"`
	// Host is that of the server, "*" for the catch-all one; empty outside of servers.
	Host    string `json:"host,omitempty"`
	Gained  int    `json:"gained"`
	Lost    int    `json:"lost"`
	Unified hunks  `json:"unified"`
}

// hunks is the text of a unified diff, without its header. Its line numbers count the lines
// of the owner.
type hunks = explain.Lines

// owner is whose lines they are.
type owner struct {
	object       model.ObjectRef
	host, stream string
}

// conf compares the lines of each owner.
func conf(before, after *render.File) []Lines {
	old, now := byOwner(before), byOwner(after)
	if settingsOf(old) != settingsOf(now) {
		old, now = byOwner(before, settingsOf(old)), byOwner(after, settingsOf(now))
	}
	owners := slices.Collect(maps.Keys(now))
	for o := range old {
		if now[o] == nil {
			owners = append(owners, o)
		}
	}
	slices.SortFunc(owners, func(a, b owner) int {
		return cmp.Or(a.object.Compare(b.object), strings.Compare(a.host, b.host), strings.Compare(a.stream, b.stream))
	})
	var all []Lines
	for _, o := range owners {
		a, b := text(old[o]), text(now[o])
		if a == b {
			continue
		}
		l := Lines{Object: o.object, Host: cmp.Or(o.host, o.stream), Unified: unified(a, b)}
		for line := range strings.Lines(string(l.Unified)) {
			switch line[0] {
			case '+':
				l.Gained++
			case '-':
				l.Lost++
			}
		}
		all = append(all, l)
	}
	return all
}

// settingsOf returns the ConfigMap of the settings, empty if there is none.
func settingsOf(all map[owner]*strings.Builder) model.ObjectRef {
	for o := range all {
		if o.object.Kind == "ConfigMap" && o.stream == "" {
			return o.object
		}
	}
	return model.ObjectRef{}
}

// byOwner collects the lines of each owner. Those of the objects of Sluice are with those of
// Sluice itself.
func byOwner(f *render.File, ofSluice ...model.ObjectRef) map[owner]*strings.Builder {
	all := map[owner]*strings.Builder{}
	var last owner
	var text *strings.Builder
	for line := range f.Lines() {
		o := owner{line.Object, line.Host, line.Stream}
		if slices.Contains(ofSluice, o.object) {
			o.object = model.ObjectRef{}
		}
		if line.InServer && o.host == "" {
			o.host = "*"
		}
		if text == nil || o != last {
			if last, text = o, all[o]; text == nil {
				text = &strings.Builder{}
				all[o] = text
			}
		}
		text.Write(line.Text)
	}
	return all
}

func text(b *strings.Builder) string {
	if b == nil {
		return ""
	}
	return b.String()
}

// contextLines is the number of unchanged lines around a change.
const contextLines = 2

func unified(before, after string) hunks {
	whole, err := udiff.ToUnified("", "", before, udiff.Lines(before, after), contextLines)
	if err != nil {
		return hunks(fmt.Sprintf("-(%d lines)\n+(%d lines)\n", strings.Count(before, "\n"), strings.Count(after, "\n")))
	}
	if at := strings.Index(whole, "@@"); at >= 0 {
		whole = whole[at:]
	}
	return hunks(whole)
}
