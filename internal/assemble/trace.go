package assemble

import (
	"cmp"

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

// traceQuestion is the data of the block for questions to a server that authenticates, which
// have a span of their own. Copies for a mirror have the headers of the request.
type traceQuestion struct{}

// traceAs has the questions about a location traced, if its requests are.
func traceAs(question, l *model.Location) {
	if l.Trace != nil {
		question.Trace = l.Trace
		question.Blocks = append(question.Blocks, model.Block{Name: "opentelemetry-question", Data: traceQuestion{}, Source: l.Rule.Object})
	}
}
