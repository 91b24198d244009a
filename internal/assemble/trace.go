package assemble

import (
	"cmp"
	"slices"
	"strings"

	"sluice/internal/claim"
	"sluice/internal/model"
)

// trace has the requests of a location traced, if its annotations or the settings ask for
// it.
func (b *builder) trace(l *model.Location, c *claim.Claim) {
	asked := c.Annotations.OpenTelemetry
	if !asked.Enabled {
		return
	}
	of := &b.Settings.Tracing
	l.Trace = &model.Trace{Trusts: asked.TrustIncoming, ParentBased: of.ParentBased, Share: of.Share(), Records: of.Records(), Name: cmp.Or(asked.OperationName, of.OperationName)}
}

// ruleInstead is the rule of an internal location that answers in place of another one. Spans
// have its path, so it is not shared with locations of other paths if these are traced: nginx
// can refuse a request before the location begins its trace.
func ruleInstead(l *model.Location, kind model.RuleKind) model.Rule {
	rule := model.Rule{Object: l.Rule.Object, Kind: kind}
	if l.Trace != nil && l.Trace.Records {
		rule.Path = l.Rule.Path
	}
	return rule
}

// traceQuestion is the data of the block for questions to a server that authenticates, which
// have a span of their own. Copies for a mirror have the headers of the request.
type traceQuestion struct{}

// traceAs has the questions about a location traced, if its requests are. A header
// traceparent that a user chose for the questions stays.
func traceAs(question, l *model.Location) {
	if l.Trace == nil || slices.ContainsFunc(question.Blocks, setsTrace) {
		return
	}
	question.Trace = l.Trace
	question.Blocks = append(question.Blocks, model.Block{Name: "opentelemetry-question", Data: traceQuestion{}, Source: l.Rule.Object})
}

func setsTrace(block model.Block) bool {
	asked, ok := block.Data.(questionBlock)
	return ok && slices.ContainsFunc(asked.Headers, func(h claim.QuestionHeader) bool { return strings.EqualFold(h.Name, "traceparent") })
}
