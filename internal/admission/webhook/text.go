package webhook

import (
	"fmt"
	"strings"

	"sluice/internal/admission"
	"sluice/internal/model"
)

const (
	// mostRejections is the most Problems that a rejection names, mostWarnings the most warnings, and
	// mostWarning the most bytes of one: the API server cuts longer ones, and drops more of them.
	mostRejections = 10
	mostWarnings   = 10
	mostWarning    = 256
)

// message says why an Ingress is rejected, a line for each Problem.
func message(rejections []model.Problem, of model.ObjectRef) string {
	var lines []string
	for _, p := range rejections[:min(len(rejections), mostRejections)] {
		lines = append(lines, line(p, of))
	}
	if more := len(rejections) - mostRejections; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// line is the text of a Problem. Its object is named only if it is another one than the reviewed.
func line(p model.Problem, of model.ObjectRef) string {
	text := p.Text
	if p.Object != of {
		text = fmt.Sprintf("%s would lose what it has (%s: %s)", p.Object, p.Field, text)
		p.Field = ""
	}
	if p.Field != "" {
		text = p.Field + ": " + text
	}
	if p.Reason == model.Conflict && strings.Contains(p.Field, ".paths[") {
		text += fmt.Sprintf("; that Ingress can hand it over with the annotation %s: %s/%s", admission.HandOver, of.Namespace, of.Name)
	}
	return model.OneLine(text, 1000)
}

// warnings are what the author is told. With warnOnly, they are also what would be rejected.
func warnings(v admission.Verdict, of model.ObjectRef, warnOnly bool) []string {
	var all []string
	if warnOnly {
		for _, p := range v.Rejections {
			all = append(all, model.OneLine("would be rejected: "+line(p, of), mostWarning))
		}
	}
	for _, p := range v.Warnings {
		all = append(all, model.OneLine(line(p, of), mostWarning))
	}
	if more := len(all) - mostWarnings; more > 0 {
		all = append(all[:mostWarnings-1], fmt.Sprintf("and %d more warnings: `sluice lint` shows all", more+1))
	}
	return all
}
