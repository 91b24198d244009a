package assemble

import (
	"fmt"
	"slices"
	"strconv"

	"sluice/internal/keys"
	"sluice/internal/model"
)

// notFound is the status that the page of fallback-path replaces.
const notFound = "404"

// fallbackBlock is the block of the location that answers in place of 404.
const fallbackBlock = "fallback-path"

// gives reports whether error-status gives a status as another one.
func (e *errorsAt) gives(code string) bool {
	return slices.ContainsFunc(e.statuses, func(p keys.StatusPair) bool { return p.From == code })
}

// isAnswered reports whether a status has a page besides that of a custom error.
func (e *errorsAt) isAnswered(code string) bool {
	return e.gives(code) || code == notFound && e.fallback != ""
}

// addOwnPages adds the pages of error-status. A sign-in page comes before those for 401, and
// that of fallback-path before those for 404.
func (e *errorsAt) addOwnPages(block *errorsBlock) {
	for _, pair := range e.statuses {
		if by := e.insteadOf(pair.From); by != "" {
			e.tellOnce(model.Problem{Object: e.claim.Owner.Ref, Field: e.claim.Annotations.Field(e.claim.Owner.PrefixKey, "error-status"), Reason: model.NoEffect,
				Text: fmt.Sprintf("it has no effect on %s beside %s, which answers in its place: remove %s here", pair.From, e.claim.Annotations.Field(e.claim.Owner.PrefixKey, by), pair.From)})
			continue
		}
		block.Pages = append(block.Pages, e.pageOf(pair))
	}
}

// pageOf is the page that gives a status as another one.
func (e *errorsAt) pageOf(pair keys.StatusPair) errorPage {
	status, _ := strconv.Atoi(pair.To)
	return errorPage{Codes: []string{pair.From}, Sets: true, Status: pair.To, To: e.page(pageKind{codes: []string{pair.To}, status: status}, nil)}
}

// insteadOf returns the annotation that answers in place of a status before error-status
// does, empty for none.
func (e *errorsAt) insteadOf(code string) string {
	switch {
	case code == notFound && e.fallback != "":
		return fallbackBlock
	case code == "401" && e.signsIn():
		return "auth-signin"
	}
	return ""
}

// fallbackPath returns a path that fallback-path names, empty where it has no effect.
func (e *errorsAt) fallbackPath(path string) string {
	if path == "" || e.at.Proxy == nil {
		return ""
	}
	if e.at.Proxy.Transport.Protocol == model.GRPC {
		e.tellOnce(model.Problem{Object: e.claim.Owner.Ref, Field: e.claim.Annotations.Field(e.claim.Owner.PrefixKey, fallbackBlock), Reason: model.NoEffect, Text: "it has no effect on backends that speak gRPC"})
		return ""
	}
	return path
}

// addFallbackPath adds the page in place of 404, and the location that answers with it. That
// has the blocks of this one, among them its protections, and the other pages.
func (e *errorsAt) addFallbackPath(block *errorsBlock) {
	l := derive(e.at, forFallback)
	proxy := *l.Proxy
	l.Proxy, l.Rewrite = &proxy, &model.Rewrite{Pattern: "^", Target: e.fallback}
	status, _ := strconv.Atoi(notFound)
	e.addBlock(l, fallbackBlock, struct{ Code int }{status})
	block.Intercepts = true
	if len(block.Pages) > 0 {
		e.addBlock(l, "custom-errors", *block)
		block.Recursive = true
	}
	to := e.internals.add(model.Named, fallbackBlock, "", l)
	block.Pages = append([]errorPage{{Codes: []string{notFound}, Sets: true, To: to}}, block.Pages...)
}
