package annotations

import (
	"sluice/internal/keys"
	"sluice/internal/model"
)

// ConfigurationSnippet is directives of nginx that stand in each location of the
// Ingress, behind those of the other annotations and before what answers.
type ConfigurationSnippet struct {
	Text keys.Snippet `key:"configuration-snippet" empty:"zero" risk:"critical" allowed:"allow-snippet-annotations" protects:"true" doc:"Directives of nginx for the locations of the paths. Sluice copies them unchanged."`
}

// place says when nginx comes to the snippet. Its return answers plain HTTP too, as
// with ingress-nginx. But where it may end what nginx's rewrite module does, the
// redirect to HTTPS would be left out behind it.
func (c ConfigurationSnippet) place(b *model.Block) {
	b.Ends = c.Text.Contains("break", "rewrite")
	b.Answers = !b.Ends && c.Text.Contains("return")
}
