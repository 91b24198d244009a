package controller

import (
	"fmt"

	"sluice/internal/model"
)

// tellUnstapled returns the Problems of Secrets whose certificates have no OCSP response.
func (c *Controller) tellUnstapled() []model.Problem {
	c.unstapled = c.Stapler.Troubles()
	var problems []model.Problem
	for _, t := range c.unstapled {
		problems = append(problems, model.Problem{Object: model.ObjectRef{Kind: "Secret", Namespace: t.Namespace, Name: t.Name}, Reason: model.NotFound,
			Text: fmt.Sprintf("its certificate is presented without an OCSP response: %s; Sluice asks again", t.Text)})
	}
	return problems
}
