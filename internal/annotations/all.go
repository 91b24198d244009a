package annotations

import (
	"cmp"
	"iter"
	"reflect"
	"slices"

	"sluice/internal/model"
)

// Annotations is what the annotations of an Ingress say of its paths, or of one of
// them: a group for each behaviour, in the order in which blocks are printed. A group
// that was left out has the values that it has without annotations. The groups are
// shared between Ingresses and paths: nobody changes them.
//
// The tags of a group:
//
//	behaviour  its name, which is also that of its templates
//	kind       "shaping" for one that translate or assemble reads; others print
//	scope      "host" or "Ingress" for one that holds for a whole one, and cannot
//	           differ by path
type Annotations struct {
	CORS                 *CORS                 `behaviour:"cors"`
	DenyList             *DenyList             `behaviour:"deny-list"`
	AllowList            *AllowList            `behaviour:"allow-list"`
	Limits               *Limits               `behaviour:"limits"`
	Rate                 *Rate                 `behaviour:"rate"`
	BodySize             *BodySize             `behaviour:"body-size"`
	BodyBuffer           *BodyBuffer           `behaviour:"body-buffer"`
	Timeouts             *Timeouts             `behaviour:"timeouts"`
	NextUpstream         *NextUpstream         `behaviour:"next-upstream"`
	UpstreamHost         *UpstreamHost         `behaviour:"upstream-host"`
	ConnectionHeader     *ConnectionHeader     `behaviour:"connection-header"`
	Logs                 *Logs                 `behaviour:"logs"`
	ConfigurationSnippet *ConfigurationSnippet `behaviour:"configuration-snippet"`
	Regex                *Regex                `behaviour:"regex" kind:"shaping"`
	Rewrite              *Rewrite              `behaviour:"rewrite" kind:"shaping"`
	ForwardedPrefix      *ForwardedPrefix      `behaviour:"forwarded-prefix" kind:"shaping"`
	Redirect             *Redirect             `behaviour:"redirect" kind:"shaping"`
	AppRoot              *AppRoot              `behaviour:"app-root" kind:"shaping" scope:"host"`
	ServerAlias          *ServerAlias          `behaviour:"server-alias" kind:"shaping" scope:"host"`
	SSLRedirect          *SSLRedirect          `behaviour:"ssl-redirect" kind:"shaping"`
	Transport            *Transport            `behaviour:"transport" kind:"shaping"`
	Affinity             *Affinity             `behaviour:"affinity" kind:"shaping"`
	Canary               *Canary               `behaviour:"canary" kind:"shaping" scope:"Ingress"`
	Mirror               *Mirror               `behaviour:"mirror" kind:"shaping"`
	Certificates         *Certificates         `behaviour:"certificates" kind:"shaping" scope:"host"`
	Passthrough          *Passthrough          `behaviour:"ssl-passthrough" kind:"shaping" scope:"host"`
	BasicAuth            *BasicAuth            `behaviour:"basic-auth" kind:"shaping"`
	ExternalAuth         *ExternalAuth         `behaviour:"external-auth" kind:"shaping"`
	CustomHeaders        *CustomHeaders        `behaviour:"custom-headers" kind:"shaping"`

	blocks   []model.Block
	protects []string
	denied   bool
	ofObject *ofObject
	// fields are the annotations for one path by the keys that they give.
	fields map[string]string
}

// Field returns the annotation that gives a key, which can be one for a single path.
// prefix is that of all other annotations, with its slash.
func (a *Annotations) Field(prefix, key string) string { return cmp.Or(a.fields[key], prefix+key) }

// ofObject is what holds for the whole Ingress.
type ofObject struct {
	problems []model.Problem
	withheld bool
	byPath   map[string]*Annotations
	paths    []string // those of byPath, sorted
}

// Blocks are what the decorating behaviours print, in the order of All.
func (a *Annotations) Blocks() []model.Block { return a.blocks }

// Denied is true if something that protects the paths is not valid or not supported:
// they must answer 503.
func (a *Annotations) Denied() bool { return a.denied }

// Protects are the names of what protects the paths, whether it is in force or only
// asked for: behaviours, and annotations that are not supported.
func (a *Annotations) Protects() []string { return a.protects }

// Protections are the groups of the behaviours that keep requests out of the paths. Two
// that are equal, as reflect.DeepEqual tells, do the same.
func (a *Annotations) Protections() []any {
	var groups []any
	for _, b := range behaviours {
		if slices.Contains(a.protects, b.Name) {
			groups = append(groups, b.of(a).Interface())
		}
	}
	return groups
}

// DifferByPath is true if some path of the Ingress has something of its own.
func (a *Annotations) DifferByPath() bool { return len(a.ofObject.paths) > 0 }

// Guards is true if requests are kept out of the paths, or should be.
func (a *Annotations) Guards() bool { return a.denied || len(a.protects) > 0 }

// At gives what holds for a path of the Ingress's rules, as it is written there.
func (a *Annotations) At(path string) *Annotations {
	if own := a.ofObject.byPath[path]; own != nil {
		return own
	}
	return a
}

// Groups are pointers to the groups, in the order of the fields.
func (a *Annotations) Groups() iter.Seq[any] {
	return func(yield func(any) bool) {
		for _, b := range behaviours {
			if !yield(b.of(a).Interface()) {
				return
			}
		}
	}
}

// Each gives what holds for the Ingress, and then for each path that has something of
// its own.
func (a *Annotations) Each() iter.Seq[*Annotations] {
	return func(yield func(*Annotations) bool) {
		if !yield(a) {
			return
		}
		for _, path := range a.ofObject.paths {
			if !yield(a.ofObject.byPath[path]) {
				return
			}
		}
	}
}

// GuardsAny is true if requests are kept out of any path, or should be.
func (a *Annotations) GuardsAny() bool {
	for each := range a.Each() {
		if each.Guards() {
			return true
		}
	}
	return false
}

// Problems are what is wrong with the annotations, sorted. Field is the whole
// name of the annotation.
func (a *Annotations) Problems() []model.Problem { return a.ofObject.problems }

// Withheld is true if the Ingress is meant for few requests by an annotation
// that is not supported, and would get all of them: nothing of it is served.
func (a *Annotations) Withheld() bool { return a.ofObject.withheld }

// behaviours are those of Annotations, in the order of its fields.
var behaviours = behavioursOf(reflect.TypeFor[Annotations]())

// All lists the behaviours, in the order in which they print.
func All() []Behaviour {
	list := make([]Behaviour, len(behaviours))
	for i, b := range behaviours {
		list[i] = b.Behaviour
	}
	return list
}
