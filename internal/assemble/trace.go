package assemble

import (
	"cmp"
	"slices"
	"strings"

	"sluice/internal/claim"
	"sluice/internal/model"
)

// traced is the variable with the trace of a request, and tracedQuestion that with the header of
// its question. No map takes one out of the other by a pattern: its match would replace the
// captures of the question while nginx writes headers with them.
const (
	traced         = "opentelemetry"
	tracedQuestion = "opentelemetry_question_header"
)

// trace has the requests of a location traced, if its annotations or the settings ask for
// it. The words for trace.lua are those of its function decode.
func (b *builder) trace(l *model.Location, c *claim.Claim) {
	asked, of := c.Annotations.OpenTelemetry, &b.Settings.Tracing
	if !asked.Enabled {
		return
	}
	how := "share=" + of.Share()
	if asked.TrustIncoming {
		how += " trusts"
	}
	if of.ParentBased {
		how += " parent"
	}
	var path any = model.Verbatim("")
	if l.Recorded = of.Records(); l.Recorded {
		how, path = how+" records", model.PathOfRule{}
	}
	l.Computed = append(l.Computed, model.Computed{Variable: traced, By: "trace", Arguments: []any{model.Verbatim(how), path, cmp.Or(asked.OperationName, of.OperationName)}})
}

// traceQuestion has a span of each question about a location whose requests are traced. A
// header traceparent that a user chose for the questions stays. Copies for a mirror have the
// headers of the request.
func (b *builder) traceQuestion(question, l *model.Location) {
	switch {
	case !slices.ContainsFunc(l.Computed, func(c model.Computed) bool { return c.Variable == traced }):
	case slices.ContainsFunc(question.Blocks, setsTrace):
		question.Recorded = false
	default:
		b.addBlock(question, "opentelemetry-question", struct{}{})
		l.Computed = append(l.Computed, model.Computed{Variable: tracedQuestion, By: "trace_part", Arguments: []any{model.Word("question")}})
	}
}

func setsTrace(block model.Block) bool {
	asked, ok := block.Data.(questionBlock)
	return ok && slices.ContainsFunc(asked.Headers, func(h claim.QuestionHeader) bool { return strings.EqualFold(h.Name, "traceparent") })
}
