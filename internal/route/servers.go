package route

import (
	"strings"

	"sluice/internal/model"
	"sluice/internal/pcre"
)

// fit is how well the name of a server matches a host.
type fit struct {
	kind fitKind
	// length is the length of a wildcard: the longer one wins.
	length int
	// name is the matching name: the host of the server or an alias.
	name string
}

// fitKind orders the ways in which a name can match: the greater one wins. Source:
// https://nginx.org/en/docs/http/server_names.html
type fitKind int

const (
	noFit fitKind = iota
	catchAll
	namePattern
	wildcardTail
	wildcardName
	preciseName
)

// fitOf returns the best fit of a server's host and aliases.
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

// hostFit returns the fit of a server's host. nginx's wildcard matches any number of
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

// aliasFit returns the fit of an alias. Its wildcards are those of nginx, at either
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

// wildcardOver reports whether a host is a wildcard above a name, with any number of
// labels.
func wildcardOver(host, name string) bool {
	suffix, ok := strings.CutPrefix(host, "*.")
	return ok && strings.HasSuffix(name, "."+suffix)
}

// oneLabel reports whether a wildcard matches a name with exactly one label for "*".
func oneLabel(wildcard, name string) bool {
	label, ok := strings.CutSuffix(name, strings.TrimPrefix(wildcard, "*"))
	return ok && label != "" && !strings.Contains(label, ".")
}

// misses reports whether nginx gives a server a name that its wildcard does not mean
// in Kubernetes.
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

// before reports whether a server wins over another one that is earlier in the file.
func (f fit) before(o fit) bool {
	return f.kind > o.kind || f.kind == o.kind && f.length > o.length
}

// chooseServer returns the server of a name: the exact one, else the wildcard with
// the longest suffix, else that with the longest beginning, else the first with a
// matching pattern, else the catch-all. It also returns the reason for each other
// server that comes close.
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

// serverVerdict compares a server with the winner.
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
