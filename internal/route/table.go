package route

import (
	"cmp"
	"strconv"
	"strings"

	"sluice/internal/model"
)

// Row is one rule of the routing table.
type Row struct {
	// Host is "*" for the catch-all server.
	Host string
	// Match is exact, prefix, pattern or fallback.
	Match string
	// Path is the path as written.
	Path string
	// Answer is the key of the backend, or a status.
	Answer string
	// Object is the owner of the rule; empty for locations of Sluice.
	Object model.ObjectRef
	// Extras are the further effects: "rewrite", "https" and the names of the blocks.
	Extras []string
	// When are the requests of the path that the rule is for; zero for all.
	When model.Match
	// Server and Location are those of the row.
	Server   *model.Server
	Location *model.Location
}

// Table returns a row for each rule, in the order of servers and locations. Locations
// that exist only to make nginx match correctly (the second location of a Prefix,
// shadows), or only for load balancers and nginx's counters, have no row.
func Table(servers []*model.Server) []Row {
	var rows []Row
	for _, server := range servers {
		if server.AliasesOnly {
			continue // its rules are those of the server before it
		}
		t := table{server, map[model.Rule]bool{}, map[model.Rule]bool{}}
		for _, l := range server.Locations {
			t.prefixes[l.Rule] = t.prefixes[l.Rule] || l.Modifier == model.PrefixFirst
		}
		for _, l := range server.Locations {
			if len(l.Dispatch) > 0 {
				rows = append(rows, t.dispatchedRows(l)...)
				continue
			}
			if l.Rule.Kind == model.RuleShadow || l.Rule.Kind == model.RuleHealth || l.Rule.Kind == model.RuleStatus || t.seen[l.Rule] {
				continue
			}
			t.seen[l.Rule] = true
			rows = append(rows, t.row(l))
		}
	}
	return rows
}

// table makes the rows of a server, which can have thousands of locations.
type table struct {
	server *model.Server
	// seen are the rules with a row, and prefixes those with a location that takes a prefix.
	seen, prefixes map[model.Rule]bool
}

// dispatchedRows returns the rows of the rules for the path of a location that
// dispatches, except those with a location of their own.
func (t *table) dispatchedRows(l *model.Location) []Row {
	var rows []Row
	for _, candidate := range l.Dispatch {
		to := t.server.Named(candidate.To)
		path, err := Decode(to.Rule.Path)
		if err != nil || t.seen[to.Rule] || strings.TrimSuffix(path, "/") != strings.TrimSuffix(l.Path, "/") {
			continue
		}
		t.seen[to.Rule] = true
		r := t.row(to)
		if !candidate.Match.Any() {
			r.When = candidate.Match
			r.Extras = append(r.Extras, "if "+candidate.Match.String())
		}
		rows = append(rows, r)
	}
	return rows
}

func (t *table) row(l *model.Location) Row {
	r := Row{Host: cmp.Or(t.server.Host, "*"), Match: t.kind(l), Path: l.Rule.Path, Object: l.Rule.Object, Server: t.server, Location: l}
	switch {
	case l.Return != nil:
		r.Answer = strings.TrimSpace(strconv.Itoa(l.Return.Code) + " " + l.Return.URL)
	case l.Proxy != nil:
		r.Answer = l.Proxy.Backend
	}
	if l.Rewrite != nil {
		r.Extras = append(r.Extras, "rewrite")
	}
	if l.RedirectToHTTPS != nil || t.server.RedirectToHTTPS != nil {
		r.Extras = append(r.Extras, "https")
	}
	for _, block := range l.Blocks {
		r.Extras = append(r.Extras, block.Name)
	}
	return r
}

// kind returns how a rule matches. The "=" location that a Prefix has for its path
// without "/" comes before its "^~".
func (t *table) kind(l *model.Location) string {
	switch {
	case l.Rule.Kind == model.RuleFallback:
		return "fallback"
	case l.Modifier == model.Pattern:
		return "pattern"
	case l.Modifier == model.Named && l.Rule.PathType == "Exact":
		return "exact"
	case l.Modifier == model.Equal && !t.prefixes[l.Rule]:
		return "exact"
	}
	return "prefix"
}
