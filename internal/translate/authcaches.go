package translate

import "fmt"

// mostAuthCaches is the maximum number of namespaces with kept answers of authentication
// servers. Each takes up to 16 MB on disk and a megabyte of memory.
const mostAuthCaches = 64

const authCacheKey = "auth-cache-key"

// withinCaches counts the namespaces with kept answers. Beyond the maximum, it returns the
// Ingress without its key, so that each request is asked about. The oldest Ingresses count
// first.
func (t *translation) withinCaches(ing *owner) *owner {
	namespace := ing.Ref.Namespace
	if !ing.keeps() || t.caches[namespace] {
		return ing
	}
	if len(t.caches) < mostAuthCaches {
		t.caches[namespace] = true
		return ing
	}
	return t.without(ing, []string{authCacheKey, "auth-cache-duration"}, ing.field(authCacheKey), fmt.Sprintf("answers are not kept: %d namespaces with older Ingresses keep answers, which is the maximum", mostAuthCaches))
}

// keeps reports whether answers of a server of its own are kept for any path.
func (i *owner) keeps() bool {
	for each := range i.Annotations.Each() {
		if auth := i.AttachedTo(each.ExternalAuth).Auth; auth != nil && auth.Keeps() && !auth.Asked.OfSettings() {
			return true
		}
	}
	return false
}
