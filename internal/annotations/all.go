package annotations

import (
	"cmp"
	"iter"
	"reflect"
	"slices"
	"strings"

	"sluice/internal/model"
)

// Annotations holds the annotations of an Ingress for all its paths or for one of them: a
// group for each behaviour, in the order in which blocks are printed. A group that was left
// out has its defaults. Ingresses and paths share groups, so nobody may modify them.
//
// The tags of a group:
//
//	behaviour  its name, which is also that of its templates
//	kind       "shaping" if translate or assemble reads it; others print a block
//	scope      "host" or "Ingress" if it applies to a whole one, and cannot differ by path
//	single     the reason why several Ingresses cannot get it from a Namespace or ConfigMap
type Annotations struct {
	CORS                 *CORS                 `behaviour:"cors"`
	DenyList             *DenyList             `behaviour:"deny-list"`
	DenyPaths            *DenyPaths            `behaviour:"deny-paths"`
	AllowList            *AllowList            `behaviour:"allow-list"`
	Satisfy              *Satisfy              `behaviour:"satisfy"`
	Limits               *Limits               `behaviour:"limits"`
	Rate                 *Rate                 `behaviour:"rate"`
	BodySize             *BodySize             `behaviour:"body-size"`
	BodyBuffer           *BodyBuffer           `behaviour:"body-buffer"`
	Buffers              *Buffers              `behaviour:"buffers"`
	HTTPVersion          *HTTPVersion          `behaviour:"http-version"`
	AnswerRewrites       *AnswerRewrites       `behaviour:"answer-rewrites"`
	RedirectForm         *RedirectForm         `behaviour:"redirect-form"`
	Timeouts             *Timeouts             `behaviour:"timeouts"`
	NextUpstream         *NextUpstream         `behaviour:"next-upstream"`
	UpstreamHost         *UpstreamHost         `behaviour:"upstream-host"`
	ConnectionHeader     *ConnectionHeader     `behaviour:"connection-header"`
	RequestHeaders       *RequestHeaders       `behaviour:"request-headers"`
	SubFilter            *SubFilter            `behaviour:"sub-filter"`
	CookieFlags          *CookieFlags          `behaviour:"cookie-flags"`
	Caching              *Caching              `behaviour:"caching"`
	Logs                 *Logs                 `behaviour:"logs"`
	ConfigurationSnippet *ConfigurationSnippet `behaviour:"configuration-snippet"`
	ModSecurity          *ModSecurity          `behaviour:"modsecurity"`
	Regex                *Regex                `behaviour:"regex" kind:"shaping"`
	Rewrite              *Rewrite              `behaviour:"rewrite" kind:"shaping"`
	ForwardedPrefix      *ForwardedPrefix      `behaviour:"forwarded-prefix" kind:"shaping"`
	Redirect             *Redirect             `behaviour:"redirect" kind:"shaping"`
	Redirects            *Redirects            `behaviour:"redirects" kind:"shaping" scope:"Ingress" single:"each would have the same paths"`
	Match                *Match                `behaviour:"match" kind:"shaping" single:"none would get other requests"`
	AppRoot              *AppRoot              `behaviour:"app-root" kind:"shaping" scope:"host"`
	WWWRedirect          *WWWRedirect          `behaviour:"www-redirect" kind:"shaping" scope:"host"`
	ServerAlias          *ServerAlias          `behaviour:"server-alias" kind:"shaping" scope:"host" single:"each would have the same hosts"`
	SSLRedirect          *SSLRedirect          `behaviour:"ssl-redirect" kind:"shaping"`
	Transport            *Transport            `behaviour:"transport" kind:"shaping"`
	Affinity             *Affinity             `behaviour:"affinity" kind:"shaping"`
	Hash                 *Hash                 `behaviour:"upstream-hash-by" kind:"shaping"`
	LoadBalance          *LoadBalance          `behaviour:"load-balance" kind:"shaping"`
	ServiceUpstream      *ServiceUpstream      `behaviour:"service-upstream" kind:"shaping"`
	Ejection             *Ejection             `behaviour:"ejection" kind:"shaping"`
	SlowStart            *SlowStart            `behaviour:"slow-start" kind:"shaping"`
	HealthCheck          *HealthCheck          `behaviour:"health-check" kind:"shaping"`
	Canary               *Canary               `behaviour:"canary" kind:"shaping" scope:"Ingress" single:"each would be a canary, and none would have the paths"`
	Mirror               *Mirror               `behaviour:"mirror" kind:"shaping"`
	CustomErrors         *CustomErrors         `behaviour:"custom-errors" kind:"shaping"`
	Certificates         *Certificates         `behaviour:"certificates" kind:"shaping" scope:"host"`
	Passthrough          *Passthrough          `behaviour:"ssl-passthrough" kind:"shaping" scope:"host"`
	BasicAuth            *BasicAuth            `behaviour:"basic-auth" kind:"shaping"`
	ExternalAuth         *ExternalAuth         `behaviour:"external-auth" kind:"shaping"`
	ClientCertificates   *ClientCertificates   `behaviour:"client-certificates" kind:"shaping" scope:"host"`
	ClientCheck          *ClientCheck          `behaviour:"client-check" kind:"shaping"`
	Ciphers              *Ciphers              `behaviour:"ssl-ciphers" kind:"shaping" scope:"host"`
	CustomHeaders        *CustomHeaders        `behaviour:"custom-headers" kind:"shaping"`
	OpenTelemetry        *OpenTelemetry        `behaviour:"opentelemetry" kind:"shaping"`
	NamedSnippets        *NamedSnippets        `behaviour:"named-snippets" kind:"shaping"`
	ServerSnippet        *ServerSnippet        `behaviour:"server-snippet" kind:"shaping" scope:"host"`
	HandOver             *HandOver             `behaviour:"hand-over" kind:"shaping" scope:"Ingress" single:"each would hand over its own paths"`
	StreamSnippet        *StreamSnippet        `behaviour:"stream-snippet" kind:"shaping" scope:"Ingress" single:"its directives would be in nginx.conf several times"`

	blocks   []model.Block
	protects []string
	leftOut  []string
	emptied  []string
	denied   bool
	ofObject *ofObject
	// fields are the annotations for one path by the keys that they give.
	fields map[string]string
	// inherited are the annotations from layers by the keys that they give.
	inherited map[string]inherited
}

// Field returns the annotation that gives a key, which can be one for a single path.
// prefix is that of all other annotations, with its slash.
func (a *Annotations) Field(prefix, key string) string {
	if v, ok := a.inherited[key]; ok && a.fields[key] == "" {
		return FieldOf(prefix, key) + " (" + v.layer.String() + ")"
	}
	return cmp.Or(a.fields[key], FieldOf(prefix, key))
}

// FieldOf returns the annotation that gives a key for a whole Ingress. prefix is that of the
// annotations of ingress-nginx, with its slash.
func FieldOf(prefix, key string) string {
	if docOf[key].Own {
		return OwnPrefix + key
	}
	return prefix + key
}

// KeyOf returns the key that an annotation gives for a whole Ingress, as FieldOf names it.
func KeyOf(prefix, field string) (key string, ok bool) {
	if own, below := strings.CutPrefix(field, OwnPrefix); below && docOf[own].Own {
		return own, true
	}
	key, ok = strings.CutPrefix(field, prefix)
	return key, ok && !docOf[key].Own
}

// ofObject holds the results for the whole Ingress.
type ofObject struct {
	problems []model.Problem
	withheld bool
	byPath   map[string]*Annotations
	paths    []string // the keys of byPath, sorted
}

// Blocks returns the blocks of the decorating behaviours, in the order of All.
func (a *Annotations) Blocks() []model.Block { return a.blocks }

// Denied reports whether a protection of the paths is invalid or not supported, so that
// they must return 503.
func (a *Annotations) Denied() bool { return a.denied }

// Protects returns the names of the protections of the paths, whether in force or not:
// behaviours, and unsupported annotations.
func (a *Annotations) Protects() []string { return a.protects }

// LeftOut reports whether a behaviour was left out, because an annotation of it is invalid
// or not allowed.
func (a *Annotations) LeftOut(name string) bool { return slices.Contains(a.leftOut, name) }

// Emptied reports whether a behaviour closes the paths because a key of it has no value.
func (a *Annotations) Emptied(name string) bool { return slices.Contains(a.emptied, name) }

// Protections returns the groups of the behaviours that protect the paths, and that of
// satisfy. Groups that are equal by reflect.DeepEqual have the same effect.
func (a *Annotations) Protections() []any {
	var groups []any
	for _, b := range behaviours {
		if slices.Contains(a.protects, b.Name) {
			groups = append(groups, b.of(a).Interface())
		}
	}
	if len(groups) > 0 {
		groups = append(groups, a.Satisfy)
	}
	return groups
}

// OfProtection reports whether an annotation, without its prefix, is of a behaviour that
// protects the paths.
func (a *Annotations) OfProtection(name string) bool {
	b := behaviourOf[name]
	return b != nil && slices.Contains(a.protects, b.Name)
}

// DifferByPath reports whether a path of the Ingress has its own annotations.
func (a *Annotations) DifferByPath() bool { return len(a.ofObject.paths) > 0 }

// Guards reports whether the annotations restrict access to the paths, or should.
func (a *Annotations) Guards() bool { return a.denied || len(a.protects) > 0 }

// At returns the annotations for a path, as it is written in the rules.
func (a *Annotations) At(path string) *Annotations {
	if own := a.ofObject.byPath[path]; own != nil {
		return own
	}
	return a
}

// Groups returns pointers to the groups, in the order of the fields.
func (a *Annotations) Groups() iter.Seq[any] {
	return func(yield func(any) bool) {
		for _, b := range behaviours {
			if !yield(b.of(a).Interface()) {
				return
			}
		}
	}
}

// Each returns the annotations for the Ingress, and then those for each path that has its
// own.
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

// liftedBy are the behaviours that directives of nginx lift.
var liftedBy = map[string][]string{"satisfy": satisfied, "limit_req_dry_run": {"limits"}, "limit_conn_dry_run": {"limits"}}

// IsLiftedBy reports whether a directive lifts a protection of any path.
func (a *Annotations) IsLiftedBy(directive string) bool {
	for each := range a.Each() {
		if slices.ContainsFunc(liftedBy[directive], func(name string) bool { return slices.Contains(each.protects, name) }) {
			return true
		}
	}
	return false
}

// GuardsAny reports whether the annotations restrict access to any path, or should.
func (a *Annotations) GuardsAny() bool {
	for each := range a.Each() {
		if each.Guards() {
			return true
		}
	}
	return false
}

// Problems returns the Problems of the annotations, sorted. Field is the whole name of the
// annotation.
func (a *Annotations) Problems() []model.Problem { return a.ofObject.problems }

// Withheld reports whether the Ingress must not be served at all, because an annotation
// that Sluice cannot honour limits it to few requests.
func (a *Annotations) Withheld() bool { return a.ofObject.withheld }

// behaviours are the behaviours in the order of the fields of Annotations.
var behaviours = behavioursOf(reflect.TypeFor[Annotations]())

// All returns the behaviours in the order in which they print.
func All() []Behaviour {
	list := make([]Behaviour, len(behaviours))
	for i, b := range behaviours {
		list[i] = b.Behaviour
	}
	return list
}
