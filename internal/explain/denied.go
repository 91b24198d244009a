package explain

import (
	"slices"

	"sluice/internal/annotations"
	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/pcre"
)

// denyPaths is the behaviour that refuses some paths.
const denyPaths = "deny-paths"

// deniedBy returns the line of deny-paths that refuses the request, nil for none. known is
// false if only nginx can tell.
func (x *explainer) deniedBy(l *model.Location) (line *keys.DeniedPath, known bool) {
	for _, block := range l.Blocks {
		if x.request.Method == "OPTIONS" && block.Answers {
			return nil, false // it may answer first
		}
		asked, ok := block.Data.(annotations.DenyPaths)
		if !ok {
			continue
		}
		for i, denied := range asked.Lines {
			compiled, err := pcre.Compile(denied.Pattern, pcre.Caseless)
			if err != nil {
				return nil, false
			}
			switch _, matches, err := compiled.MatchWithin(x.choice.Path, denied.Steps); {
			case err != nil:
				return nil, false
			case matches:
				return &asked.Lines[i], true
			}
		}
	}
	return nil, true
}

// refusedPath is the answer to a request that deny-paths refuses, before a redirect. Its Kind
// is empty if that is not certain. A snippet that ends the rewrite module comes after the
// redirect to HTTPS, and so do the other blocks then.
func (x *explainer) refusedPath(l *model.Location, redirects bool) Answer {
	ends := slices.ContainsFunc(l.Blocks, func(b model.Block) bool { return b.Ends })
	line, _ := x.deniedBy(l)
	if line == nil || ends && (redirects || l.Return != nil) {
		return Answer{}
	}
	return Answer{Kind: ToStatus, Status: line.Code, Why: x.annotationsAt(l).Field(x.Options.AnnotationsPrefix+"/", denyPaths) + ": the line " + model.Quoted(line.Line)}
}

// passes reports whether a behaviour certainly lets the request through.
func (x *explainer) passes(l *model.Location, name string) bool {
	if name != denyPaths {
		return false
	}
	line, known := x.deniedBy(l)
	return line == nil && known
}
