package assemble

import (
	"slices"

	"sluice/internal/model"
)

// purpose is the use of an internal location that is derived from another location.
type purpose int

const (
	forErrors      purpose = iota // it answers in place of errors
	forGRPCErrors                 // it tells gRPC clients of errors
	forSignIn                     // it redirects to sign in
	forNoEndpoints                // it answers while the Service has no endpoints
	forFallback                   // it answers with the page of fallback-path
	forCopies                     // subrequests to a mirror
	forQuestions                  // subrequests to a server that authenticates
)

// kept is the part of a location that one derived from it keeps.
type kept struct {
	// kind is the kind of its own rule, with the same object; empty for the same rule. path
	// is set if its own rule has the path too, and protects it.
	kind model.RuleKind
	path bool
	// blocks reports whether it keeps a block, and may rename it; nil for none.
	blocks func(*model.Block) bool
	// answer is set if it keeps the backend, the rewrite and all variables. Otherwise it
	// keeps no variable but the trace.
	answer bool
	// watched is set if the balancer has to know when its requests end, as they may come
	// back from a backend.
	watched bool
	// subrequest is set if it must set no variable.
	subrequest bool
	// untraced is set if its requests have no span.
	untraced bool
}

var keeps = [...]kept{
	forErrors:      {kind: model.RuleError, blocks: ofErrors, watched: true},
	forGRPCErrors:  {kind: model.RuleRedirect, blocks: ofRedirects, watched: true},
	forSignIn:      {kind: model.RuleRedirect, blocks: ofRedirects},
	forNoEndpoints: {kind: model.RuleError, blocks: anyBlock, answer: true},
	forFallback:    {kind: model.RuleError, path: true, blocks: ofFallback, answer: true},
	forCopies:      {subrequest: true, untraced: true},
	forQuestions:   {subrequest: true},
}

func anyBlock(*model.Block) bool      { return true }
func ofRedirects(b *model.Block) bool { return b.Redirected }

// ofErrors keeps the headers of limits, because the error may be a refusal by one.
func ofErrors(b *model.Block) bool {
	if b.Name == "limits" {
		b.Name = "limit-headers"
		return true
	}
	return b.Redirected
}

// ofFallback drops the mirror, which has a copy of the request already.
func ofFallback(b *model.Block) bool { return b.Name != "mirror" }

// derive makes a location for a purpose from another one. Its caller adds an answer.
func derive(l *model.Location, p purpose) *model.Location {
	k := keeps[p]
	to := &model.Location{Rule: l.Rule, Recorded: l.Recorded && !k.untraced, Watched: k.watched && l.Proxy != nil && l.Proxy.Watched}
	if k.kind != "" {
		to.Rule = model.Rule{Object: l.Rule.Object, Kind: k.kind}
	}
	if k.path {
		to.Rule.Path, to.Rule.Protects = l.Rule.Path, l.Rule.Protects
	}
	if k.answer {
		to.Proxy, to.Rewrite = l.Proxy, l.Rewrite
	}
	if k.blocks != nil {
		for _, block := range l.Blocks {
			if k.blocks(&block) {
				to.Blocks = append(to.Blocks, block)
			}
		}
	}
	if !k.subrequest {
		to.Computed = slices.DeleteFunc(slices.Clone(l.Computed), func(c model.Computed) bool { return !k.answer && c.Variable != traced })
	}
	return to
}
