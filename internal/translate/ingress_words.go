package translate

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/annotations"
	"sluice/internal/model"
)

// refuseWords closes an Ingress with an annotation that contains one of the words that the
// administrator forbids.
func (i *owner) refuseWords(words []string) {
	if len(words) == 0 {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(i.given)) {
		if !strings.HasPrefix(key, i.PrefixKey) && !strings.HasPrefix(key, annotations.OwnPrefix) {
			continue
		}
		for _, word := range words {
			if strings.Contains(i.given[key], word) {
				i.Denied, i.KeepsSnippet = true, false
				i.Problems = append(i.Problems, model.Problem{Object: i.Ref, Field: key, Reason: model.Unsupported, Denies: true,
					Text: fmt.Sprintf("want a value without %s: the setting annotation-value-word-blocklist forbids it", model.Quoted(word))})
				break
			}
		}
	}
}

// Strict is the reason for a path that strict-validate-path-type refuses.
const Strict model.Reason = "Strict"

// strictPath matches the paths of type Exact and Prefix that the webhook of ingress-nginx
// admits.
var strictPath = regexp.MustCompile(`^/[[:alnum:]._/-]*$`)

// IsStrict reports whether strict-validate-path-type admits a path.
func IsStrict(path *networkingv1.HTTPIngressPath) bool {
	literal := path.PathType != nil && *path.PathType != networkingv1.PathTypeImplementationSpecific
	return !literal || path.Path == "" || strictPath.MatchString(path.Path)
}

// lax reports the paths of an Ingress that are not strict.
func (t *translation) lax(ing *owner) {
	if !t.settings.Annotations.StrictPathType || ing.object == nil {
		return
	}
	for r, rule := range ing.object.Spec.Rules {
		if rule.HTTP == nil {
			continue
		}
		for p := range rule.HTTP.Paths {
			if path := &rule.HTTP.Paths[p]; !IsStrict(path) {
				t.report(model.Problem{Object: ing.Ref, Field: fmt.Sprintf("spec.rules[%d].http.paths[%d].path", r, p), Reason: Strict,
					Text: fmt.Sprintf("the webhook of ingress-nginx refuses %s with pathType %s: want letters, digits and / . _ - only, or strict-validate-path-type: \"false\"", model.Quoted(path.Path), *path.PathType)})
			}
		}
	}
}
