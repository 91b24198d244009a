package render

import (
	"bytes"
	"strings"

	"sluice/internal/settings"
	"sluice/internal/syntax"
)

// ofHTTPSnippet returns the names of our headers for backends that the http-snippet sets too, in
// lower case. Those of the snippet replace ours: nginx would send both.
func (r *rendering) ofHTTPSnippet() map[string]bool {
	snippet, _ := findBlock(r.global.blocks, "http-snippet").Data.(settings.HTTPSnippet)
	theirs, names := inheritables([]byte(snippet.Text)), map[string]bool{}
	if !has(theirs, setHeader, "") {
		return nil
	}
	before := r.page.here()
	_ = r.ownHeaders("headers")
	for _, i := range inheritables(r.page.Bytes()[before.length:]) {
		if i.directive == setHeader && has(theirs, setHeader, i.header) {
			names[i.header] = true
		}
	}
	r.page.back(before)
	return names
}

// headersTemplate is the template of the headers for backends.
func headersTemplate(joined *joinedView) string {
	if joined != nil {
		return "joined-headers"
	}
	return "headers"
}

// ownHeaders prints the headers for backends of the http level with a template.
func (r *rendering) ownHeaders(template string) error {
	before := r.page.here()
	if err := r.page.execute(r.templates.core[template], r.view); err != nil || len(r.replaced) == 0 {
		return err
	}
	text := r.page.Bytes()[before.length:]
	var kept bytes.Buffer
	done := 0
	syntax.Directives(text, func(d syntax.Directive) {
		if d.Depth == 0 && d.Name == setHeader && r.replaced[strings.ToLower(d.Arg)] {
			kept.Write(text[done:d.Start])
			done = d.End
		}
	})
	kept.Write(text[done:])
	r.page.back(before)
	_, err := r.page.Write(kept.Bytes())
	return err
}
