package assemble

import (
	"strings"

	"sluice/internal/model"
)

// shadows keeps nginx from answering /foo with a redirect to /foo/ where only
// the latter is there: it does that by itself wherever a location that ends in
// "/" has a proxy_pass. A prefix location "/foo" does what the prefix above it
// does, and leaves patterns their chance if that does.
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

// asShadow gives the kind of a shadow of a location. What is closed stays so.
func asShadow(kind model.RuleKind) model.RuleKind {
	if kind == model.RuleClosed {
		return kind
	}
	return model.RuleShadow
}

// prefixAbove finds the longest prefix of a path among those that end in "/".
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
