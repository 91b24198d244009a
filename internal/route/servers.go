package route

import (
	"strings"

	"sluice/internal/model"
	"sluice/internal/pcre"
)

// fit is how well the name of a server fits a host.
type fit struct {
	kind fitKind
	// length is that of a wildcard: the longer comes first.
	length int
	// name is what fits, the host of the server or an alias.
	name string
}

// fitKind orders the ways in which a name fits: the greater comes first.
// Source: https://nginx.org/en/docs/http/server_names.html
type fitKind int

const (
	noFit fitKind = iota
	catchAll
	namePattern
	wildcardTail
	wildcardName
	preciseName
)

// fitOf says how well the names of a server fit: its host and its aliases.
func fitOf(s *model.Server, name string) fit {
	best := fit{}
	if !s.AliasesOnly {
		best = hostFit(s, name)
	}
	for _, alias := range s.Aliases {
		if f := aliasFit(alias, name); f.before(best) {
			best = f
		}
	}
	return best
}

// hostFit says how well a server's host fits. nginx's wildcard takes any number of
// labels; a wildcard host without a Miss is a pattern for one label.
func hostFit(s *model.Server, name string) fit {
	above := wildcardOver(s.Host, name)
	switch {
	case s.Host == "":
		return fit{kind: catchAll}
	case above && (s.Miss() != nil || s.AnyLabels):
		return fit{wildcardName, len(s.Host), s.Host}
	case above && oneLabel(s.Host, name):
		return fit{kind: namePattern, name: s.Host}
	case !above && s.Host == name:
		return fit{kind: preciseName, name: s.Host}
	}
	return fit{}
}

// aliasFit says how well an alias fits. Its wildcards are nginx's own, at either
// end.
func aliasFit(alias, name string) fit {
	pattern, isPattern := strings.CutPrefix(alias, "~")
	beginning, isTail := strings.CutSuffix(alias, "*")
	switch {
	case isPattern:
		if matches, _ := matchPattern(pattern, name, pcre.NameSteps); matches {
			return fit{kind: namePattern, name: alias}
		}
	case wildcardOver(alias, name):
		return fit{wildcardName, len(alias), alias}
	case isTail && strings.HasPrefix(name, beginning):
		return fit{wildcardTail, len(alias), alias}
	case alias == name:
		return fit{kind: preciseName, name: alias}
	}
	return fit{}
}

// wildcardOver says whether a host is a wildcard above a name, however many labels
// it stands for.
func wildcardOver(host, name string) bool {
	suffix, ok := strings.CutPrefix(host, "*.")
	return ok && strings.HasSuffix(name, "."+suffix)
}

// oneLabel is the guard of a wildcard server: "*" stands for one label.
func oneLabel(wildcard, name string) bool {
	label, ok := strings.CutSuffix(name, strings.TrimPrefix(wildcard, "*"))
	return ok && label != "" && !strings.Contains(label, ".")
}

// misses says whether a server takes a name that its wildcard does not mean.
func misses(s *model.Server, name string) bool {
	return s.Miss() != nil && !oneLabel(s.Host, name)
}

func catchAllOf(servers []*model.Server) *model.Server {
	for _, s := range servers {
		if s.Host == "" && !s.AliasesOnly {
			return s
		}
	}
	return nil
}

// before says whether a server comes before another that stands ahead of it in
// the file.
func (f fit) before(o fit) bool {
	return f.kind > o.kind || f.kind == o.kind && f.length > o.length
}

// chooseServer gives the server of a name: the precise one, else the wildcard with
// the longest suffix, else that with the longest beginning, else the first with a
// pattern among its names that fits, else the catch-all; and why the others that could be meant are not it.
func chooseServer(servers []*model.Server, name string) (*model.Server, []ServerVerdict) {
	var winner *model.Server
	var best fit
	for _, s := range servers {
		if f := fitOf(s, name); f.before(best) {
			winner, best = s, f
		}
	}
	var verdicts []ServerVerdict
	for _, s := range servers {
		f := fitOf(s, name)
		if f.kind == noFit && (s.AliasesOnly || !wildcardOver(s.Host, name)) {
			continue
		}
		v := ServerVerdict{Server: s, Name: f.name, Verdict: serverVerdict(s, winner, f, best, name)}
		if v.Verdict != Wins && v.Verdict != OneLabel {
			v.By = winner
		}
		verdicts = append(verdicts, v)
	}
	return winner, verdicts
}

// serverVerdict compares a server with the one that nginx takes.
func serverVerdict(s, winner *model.Server, f, best fit, name string) Verdict {
	missed := misses(winner, name)
	switch {
	case f.kind == noFit, f.kind == wildcardName && missed:
		return OneLabel // if the longest takes too many labels, so do all
	case s == winner, f.kind == catchAll && missed:
		return Wins
	case f.kind == catchAll:
		return NameFirst
	case best.kind == preciseName && f.kind != preciseName:
		return PreciseFirst
	case f.kind == best.kind && f.length == best.length:
		return EarlierFirst
	case f.kind == best.kind:
		return LongerFirst
	}
	return WildcardFirst
}
