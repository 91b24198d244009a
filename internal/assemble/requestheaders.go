package assemble

import (
	"slices"
	"strings"

	"sluice/internal/annotations"
	"sluice/internal/keys"
	"sluice/internal/model"
)

// requestHeaders is the name of the block that sets headers for backends.
const requestHeaders = "request-headers"

// linesOf returns the headers that blocks set for the backend.
func linesOf(blocks []model.Block) keys.RequestHeaders {
	for _, block := range blocks {
		if of, ok := block.Data.(annotations.RequestHeaders); ok && block.Name == requestHeaders {
			return of.Lines
		}
	}
	return nil
}

// removing returns lines that remove the same headers of the client.
func removing(lines keys.RequestHeaders) keys.RequestHeaders {
	lines = slices.Clone(lines)
	for i := range lines {
		lines[i].Value = ""
	}
	return lines
}

// Sets returns the headers that the block sets itself. nginx would send one that another
// block sets too twice.
func (b errorBlock) Sets() []string {
	return append([]string{"X-Code", "X-Format", "X-Namespace", "X-Ingress-Name", "X-Service-Name", "X-Service-Port"}, b.Hidden...)
}

// addErrorBlock adds the block of a location that answers in place of errors, and the
// headers for the backend that it does not set itself.
func (e *errorsAt) addErrorBlock(l *model.Location, data errorBlock, lines keys.RequestHeaders) {
	lines = slices.DeleteFunc(slices.Clone(lines), func(line keys.HeaderLine) bool {
		return slices.ContainsFunc(data.Sets(), func(name string) bool { return strings.EqualFold(name, line.Name) })
	})
	l.Blocks = slices.DeleteFunc(slices.Clone(l.Blocks), func(b model.Block) bool { return b.Name == requestHeaders })
	if len(lines) > 0 {
		e.addBlock(l, requestHeaders, annotations.RequestHeaders{Lines: lines})
	}
	e.addBlock(l, "custom-error", data)
}
