package explain

import (
	"reflect"
	"slices"
	"strings"

	"sluice/internal/annotations"
	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// Shaping behaviours whose effect is visible in the model.
const (
	rewriteName   = "rewrite"
	redirectName  = "redirect"
	transportName = "transport"
	ciphersName   = "ssl-ciphers"
)

// sends reports whether a location redirects its clients elsewhere. That comes before
// all behaviours that refuse requests.
func sends(l *model.Location) bool { return l.Return != nil && l.Return.URL != "" }

// Behaviours returns a function that returns the behaviours with an effect at a location
// of a server, in the order of nginx.conf, whatever the request.
func Behaviours(in Input) func(*model.Server, *model.Location) []Behaviour {
	x := &explainer{Input: in, ofClass: translate.Settings(in.Snapshot, in.Options)}
	x.settings, _ = settings.Read(in.Snapshot.ConfigMap(in.Options.ConfigMap))
	return func(s *model.Server, l *model.Location) []Behaviour {
		x.choice.Server, x.choice.Location = s, l
		all := x.behaviours(l)
		Fit(reflect.ValueOf(&all))
		return all
	}
}

// behaviours returns those with an effect at a location, in the order of nginx.conf.
func (x *explainer) behaviours(l *model.Location) []Behaviour {
	var list []Behaviour
	ing := x.ingressOf(l)
	values := x.settingsOf(ing)
	ofOther := !snapshot.IsIngress(l.Rule.Object) // its values are not known here
	for _, b := range annotations.Explain(ing, values, x.Options.AnnotationsPrefix, pathOf(l)) {
		if !effective(b, l) {
			continue
		}
		shown := Behaviour{Name: b.Name}
		shown.Snippet, shown.Target = isSnippet(b), x.target(l, b.Name)
		shown.Answers = b.Answers && (l.Return == nil || sends(l) || isUnserved(l) && printed(l, b.Name))
		shown.Refuses = b.Protects && !shown.Snippet && printed(l, b.Name) && l.Return == nil && !x.passes(l, b.Name)
		unused := unusedAt(l)
		for _, v := range b.Values {
			if slices.Contains(unused, v.Key) {
				continue
			}
			if k := x.key(b, v, values); v.Text != "" && (k.Source != FromDefault || !idle(v, b.Values)) {
				shown.Keys = append(shown.Keys, k)
			}
		}
		if len(shown.Keys) > 0 || printed(l, b.Name) && (ofOther || !allUnused(b, unused)) {
			list = append(list, shown)
		}
	}
	return list
}

// unusedAt returns the keys that have no effect with the protocol of the backends.
func unusedAt(l *model.Location) []string {
	if l.Proxy == nil {
		return nil
	}
	return translate.Unused(l.Proxy.Transport.Protocol)
}

// allUnused reports whether a behaviour has keys in force, and none of them has an effect.
func allUnused(b annotations.InForce, unused []string) bool {
	inForce := slices.DeleteFunc(slices.Clone(b.Values), func(v keys.InForce) bool { return v.Text == "" })
	return len(inForce) > 0 && !slices.ContainsFunc(inForce, func(v keys.InForce) bool { return !slices.Contains(unused, v.Key) })
}

// printed reports whether a behaviour prints a block at a location.
func printed(l *model.Location, name string) bool {
	return slices.ContainsFunc(l.Blocks, func(block model.Block) bool { return block.Name == name })
}

// isUnserved reports whether a location is for paths that no rule takes. What answers some
// requests itself, such as those that ask what CORS allows, comes before its 404.
func isUnserved(l *model.Location) bool {
	return l.Rule.Kind == model.RuleFallback || l.Rule.Kind == model.RuleShadow
}

// target returns the URL of a behaviour's subrequests, "" for none.
func (x *explainer) target(l *model.Location, name string) string {
	for _, block := range l.Blocks {
		asks, ok := block.Data.(interface{ Subrequest() string })
		if !ok || block.Name != name {
			continue
		}
		to := x.choice.Server.InternalFor(asks.Subrequest())
		if to == nil || to.Proxy == nil {
			return ""
		}
		if b := x.Config.Dynamic.Backend(to.Proxy.Backend); b != nil {
			scheme := map[bool]string{false: "http://", true: "https://"}[to.Proxy.Transport.TLS]
			host := b.Target.Host
			if host == "" {
				host = b.Target.Name + "." + b.Target.Namespace + ".svc"
			}
			return scheme + hostPort(host, b.Target.Port) + to.Proxy.URI
		}
	}
	return ""
}

// isSnippet reports whether a behaviour consists of directives of users, which an
// administrator has to allow.
func isSnippet(b annotations.InForce) bool {
	return !slices.ContainsFunc(b.Behaviour.Keys, func(doc keys.Doc) bool { return doc.Allowed == "" })
}

// idle reports whether a value asks for nothing: it is off, or so are the keys of its
// behaviour that it needs.
func idle(v keys.InForce, all []keys.InForce) bool {
	on := func(o keys.InForce) bool { return o.Text != "" && !o.IsOff(o.Text) }
	needed := func(o keys.InForce) bool { return slices.Contains(strings.Fields(v.Needs), o.Key) }
	return !on(v) || slices.ContainsFunc(all, needed) && !slices.ContainsFunc(all, func(o keys.InForce) bool { return needed(o) && on(o) })
}

// effective reports whether a behaviour has an effect at a location: it prints a block
// there, or a setting applies it to all locations. It has none if the location returns
// a status first.
func effective(b annotations.InForce, l *model.Location) bool {
	written := slices.ContainsFunc(b.Values, func(v keys.InForce) bool { return v.Name != "" })
	inherited := slices.ContainsFunc(b.Values, func(v keys.InForce) bool { return v.From != "" && !idle(v, b.Values) })
	switch {
	case sends(l) && b.Protects && !isSnippet(b):
		return false
	case sends(l) && b.Name == redirectName:
		return true
	case printed(l, b.Name):
		return true
	case l.Proxy == nil:
		return false
	case b.Name == rewriteName:
		return l.Rewrite != nil
	case b.Name == ciphersName:
		return written // others have those of the http level
	case b.Name == transportName:
		return l.Proxy.Transport != model.Transport{}
	case b.Kind == annotations.Shaping:
		return written || inherited
	}
	// Settings of protecting behaviours are printed in each location, others also at the
	// http level.
	return inherited && !b.Protects
}

// key returns a key with its value and its origin.
func (x *explainer) key(b annotations.InForce, v keys.InForce, values *settings.Settings) Key {
	k := Key{Key: v.Key, Value: v.Text, Source: FromDefault}
	layer := b.Inherited[v.Key]
	object, written := values.Origin(v.From)
	switch {
	case layer != nil:
		k.Source, k.Object, k.Name, k.Inherited = FromAnnotation, layer.Object, layer.Field, true
		if layer.Object.Kind == "ConfigMap" {
			k.Source = FromSetting
		}
	case v.Name != "":
		k.Source, k.Object, k.Name = FromAnnotation, x.choice.Location.Rule.Object, v.Name
	case written:
		k.Source, k.Object, k.Name = FromSetting, object, v.From
	}
	return k
}
