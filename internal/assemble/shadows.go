package assemble

import (
	"strings"

	"sluice/internal/model"
)

// shadows keep nginx from redirecting /foo to /foo/ if only /foo/ is a path. nginx does
// so for every location with a proxy_pass that ends in "/". A shadow is a prefix
// location "/foo" that does the same as the prefix above it; patterns win over it if
// they win over that one.
// Source: https://nginx.org/en/docs/http/ngx_http_core_module.html#location
func (b *builder) shadows() {
	if b.Settings.Paths.TrailingSlashRedirect {
		return
	}
	exact, prefixes := map[string]bool{}, map[string]*model.Location{}
	for _, l := range b.locations {
		switch l.Modifier {
		case model.Equal:
			exact[l.Path] = true
		case model.PrefixFirst, model.Prefix:
			prefixes[l.Path] = l
		}
	}
	for _, l := range b.locations {
		stem, slashed := strings.CutSuffix(l.Path, "/")
		if l.Modifier == model.Pattern || l.Proxy == nil || !slashed || stem == "" || exact[stem] || prefixes[stem] != nil {
			continue
		}
		above := prefixAbove(stem, prefixes)
		if above == nil {
			continue
		}
		shadow := *above
		shadow.Rule.Kind = asShadow(shadow.Rule.Kind)
		shadow.Path = stem
		prefixes[stem] = &shadow
		b.locations = append(b.locations, &shadow)
	}
}

// asShadow is the kind of a shadow of a location. A closed one stays closed.
func asShadow(kind model.RuleKind) model.RuleKind {
	if kind == model.RuleClosed {
		return kind
	}
	return model.RuleShadow
}

// prefixAbove returns the longest prefix of a path that ends in "/", nil for none.
func prefixAbove(path string, prefixes map[string]*model.Location) *model.Location {
	for {
		slash := strings.LastIndexByte(path, '/')
		if slash < 0 {
			return nil
		}
		if l := prefixes[path[:slash+1]]; l != nil {
			return l
		}
		path = path[:slash]
	}
}
