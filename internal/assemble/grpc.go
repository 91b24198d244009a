package assemble

import "sluice/internal/model"

// grpcErrorsBlock names the internal location that answers errors.
type grpcErrorsBlock struct{ To string }

// grpcErrors adds an internal location that tells gRPC clients of nginx's own errors. It
// has the blocks of the location that apply to redirects. Behaviours that answer an error
// themselves, such as a sign-in page, come first.
func (b *builder) grpcErrors(l *model.Location) {
	answer := &model.Location{Rule: ruleInstead(l, model.RuleRedirect), Return: &model.Return{GRPCError: true}, Watched: isWatched(l), Trace: l.Trace}
	for _, block := range l.Blocks {
		if block.Redirected {
			answer.Blocks = append(answer.Blocks, block)
		}
	}
	b.addBlock(l, "grpc-errors", grpcErrorsBlock{b.internals.add(model.Named, "grpc-error", "", answer)})
}
