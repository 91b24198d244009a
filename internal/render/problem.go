package render

import (
	"errors"
	"fmt"
	"text/template"

	"sluice/internal/model"
)

// blockError says which block could not be printed.
type blockError struct {
	block model.Block
	err   error
}

func (e *blockError) Error() string { return e.block.Name + ": " + reason(e.err) }

func (e *blockError) Unwrap() error { return e.err }

// reason gives the innermost words of an error of a template: for a refused
// value what would be valid, without the names of templates.
func reason(err error) string {
	var refusal *Refusal
	var structure *StructureError
	var block *blockError
	var exec template.ExecError
	switch {
	case errors.As(err, &block):
		return block.Error()
	case errors.As(err, &refusal):
		return "cannot be written to nginx.conf: " + refusal.Error()
	case errors.As(err, &structure):
		return "would change the structure of nginx.conf: " + structure.Error()
	case errors.As(err, &exec):
		return "template cannot be executed: " + exec.Err.Error()
	}
	return err.Error()
}

// refuse reports what could not be printed.
func (r *rendering) refuse(owner model.ObjectRef, field, text string, denies bool) {
	r.problems = append(r.problems, model.Problem{Object: owner, Field: field, Reason: model.Refused, Text: text, Denies: denies})
}

// refuseLocation reports a location; the block's owner is named if it was one
// of its blocks. Denied is whether it answers 503, else it is left out.
func (r *rendering) refuseLocation(l *model.Location, err error) {
	owner, field := l.Rule.Object, l.Rule.Field
	var block *blockError
	if errors.As(err, &block) {
		owner, field = block.block.Source, ""
	}
	r.problems = append(r.problems, model.Problem{Object: owner, Field: field, Reason: model.Refused, Text: reason(err), Denies: true})
}

// leftOut reports a location whose match cannot be printed.
func (r *rendering) leftOut(l *model.Location, err error) {
	text := fmt.Sprintf("%s; the path is left out", reason(err))
	r.problems = append(r.problems, model.Problem{Object: l.Rule.Object, Field: l.Rule.Field, Reason: model.Refused, Text: text})
}
