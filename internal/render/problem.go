package render

import (
	"errors"
	"strconv"

	"sluice/internal/model"
	"sluice/internal/tokens"
)

// blockError is the error of a block.
type blockError struct {
	block model.Block
	err   error
}

func (e *blockError) Error() string { return e.block.Name + ": " + reason(e.err) }

func (e *blockError) Unwrap() error { return e.err }

// reason returns the text of an error for users, without the names of templates.
func reason(err error) string {
	var structure *StructureError
	var block *blockError
	switch {
	case errors.As(err, &block):
		return block.Error()
	case errors.As(err, &structure):
		return "would change the structure of nginx.conf: " + structure.Error()
	}
	return tokens.TemplateFault(err)
}

// refuse adds a Problem with the reason Refused.
func (r *rendering) refuse(p model.Problem) {
	p.Reason = model.Refused
	r.problems = append(r.problems, p)
}

// refuseTemplate reports a part of the file that has no owner.
func (r *rendering) refuseTemplate(name string, err error) {
	r.refuse(model.Problem{Object: model.ObjectRef{Kind: "Template", Name: name}, Text: reason(err)})
}

// refuseLocation reports a location that returns 503 instead, to the owner of the block if
// a block failed.
func (r *rendering) refuseLocation(l *model.Location, err error) {
	owner, field := l.Rule.Object, l.Rule.Field
	var block *blockError
	if errors.As(err, &block) {
		owner, field = block.block.Source, ""
	}
	r.refuse(model.Problem{Object: owner, Field: field, Text: reason(err), Denies: true})
}

// leftOut reports a location whose match cannot be printed. A shadow is not reported: its
// path begins another one, which is left out too.
func (r *rendering) leftOut(l *model.Location, err error) {
	if l.Rule.Kind == model.RuleShadow {
		return
	}
	r.refuse(model.Problem{Object: l.Rule.Object, Field: l.Rule.Field, Text: reason(err) + "; the path is left out"})
}

// refuseServer reports a server to the owners of its locations.
func (r *rendering) refuseServer(s *model.Server, err error) {
	seen := map[model.ObjectRef]bool{}
	for _, l := range s.Locations {
		if !seen[l.Rule.Object] {
			seen[l.Rule.Object] = true
			text := "host " + strconv.QuoteToASCII(s.Host) + ": " + reason(err)
			r.refuse(model.Problem{Object: l.Rule.Object, Field: l.Rule.Field, Text: text, Denies: true})
		}
	}
}
