package assemble

import (
	"slices"

	"sluice/internal/model"
)

// kept is the part of a location that an internal one derived from it keeps.
type kept struct {
	// kind is the kind of its own rule, with the same object; empty for the same rule. path
	// is set if its own rule has the path too, and protects it.
	kind model.RuleKind
	path bool
	// blocks reports whether it keeps a block; nil for none.
	blocks func(model.Block) bool
	// limited is set if it keeps the headers of limits, because it may answer a refusal by one.
	limited bool
	// answer is set if it keeps the backend, the rewrite and all variables. Otherwise it
	// keeps no variable but the trace.
	answer bool
	// subrequest is set if it is for subrequests, which must set no variable.
	subrequest bool
	// untraced is set if its requests have no span.
	untraced bool
}

// The purposes of such locations.
var (
	forErrors      = kept{kind: model.RuleError, blocks: ofRedirects, limited: true}
	forGRPCErrors  = kept{kind: model.RuleRedirect, blocks: ofRedirects, limited: true}
	forSignIn      = kept{kind: model.RuleRedirect, blocks: ofRedirects}
	forNoEndpoints = kept{kind: model.RuleError, blocks: anyBlock, answer: true}
	forFallback    = kept{kind: model.RuleError, path: true, blocks: ofFallback, answer: true}
)

func anyBlock(model.Block) bool      { return true }
func ofRedirects(b model.Block) bool { return b.Redirected }

// ofFallback drops the mirror, which has a copy of the request already.
func ofFallback(b model.Block) bool { return b.Name != "mirror" }

// derive makes a location from another one. Its caller adds an answer.
func derive(l *model.Location, k kept) *model.Location {
	to := &model.Location{Rule: l.Rule, Recorded: l.Recorded && !k.untraced}
	if k.kind != "" {
		to.Rule = model.Rule{Object: l.Rule.Object, Kind: k.kind}
	}
	// Spans have the path of the rule: nginx can refuse a request before its location begins
	// the trace. So the location is not shared with those of other paths then.
	if k.kind != "" && l.Recorded {
		to.Rule.Path = l.Rule.Path
	}
	if k.path {
		to.Rule.Path, to.Rule.Protects = l.Rule.Path, l.Rule.Protects
	}
	if k.answer {
		to.Proxy, to.Rewrite = l.Proxy, l.Rewrite
	}
	for _, block := range l.Blocks {
		if k.limited && block.Name == "limits" {
			block.Name = "limit-headers"
			to.Blocks = append(to.Blocks, block)
		} else if k.blocks != nil && k.blocks(block) {
			to.Blocks = append(to.Blocks, block)
		}
	}
	if !k.subrequest {
		to.Computed = slices.DeleteFunc(slices.Clone(l.Computed), func(c model.Computed) bool { return !k.answer && c.Variable != traced })
	}
	return to
}
