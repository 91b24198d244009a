package assemble

import "sluice/internal/model"

// grpcErrorsBlock names the internal location that answers errors.
type grpcErrorsBlock struct{ To string }

// grpcErrors adds an internal location that tells gRPC clients of nginx's own errors.
// Behaviours that answer an error themselves, such as a sign-in page, come first.
func (b *builder) grpcErrors(l *model.Location) {
	answer := derive(l, forGRPCErrors)
	answer.Return = &model.Return{GRPCError: true}
	b.addBlock(l, "grpc-errors", grpcErrorsBlock{b.internals.add(model.Named, "grpc-error", "", answer)})
}
