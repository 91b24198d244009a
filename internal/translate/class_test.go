package translate

import (
	"strings"
	"testing"
)

func TestClasses(t *testing.T) {
	t.Parallel()
	const classes = `---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: nginx}
spec: {controller: k8s.io/ingress-nginx}
---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: second}
spec: {controller: k8s.io/ingress-nginx}
---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: other}
spec: {controller: example.org/other}
`
	const defaultClass = `---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: nginx, annotations: {ingressclass.kubernetes.io/is-default-class: "true"}}
spec: {controller: k8s.io/ingress-nginx}
`
	const otherDefault = `---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: other, annotations: {ingressclass.kubernetes.io/is-default-class: "true"}}
spec: {controller: example.org/other}
`
	older := func(class string) string {
		return strings.Replace(class, "metadata: {", `metadata: {creationTimestamp: "2020-01-01T00:00:00Z", `, 1)
	}
	newer := func(class string) string {
		return strings.Replace(class, "metadata: {", `metadata: {creationTimestamp: "2021-01-01T00:00:00Z", `, 1)
	}
	legacy := func(class string) map[string]string { return map[string]string{"kubernetes.io/ingress.class": class} }
	field := func(class string) ing { return ing{spec: "ingressClassName: " + class} }
	both := func(annotation, class string) ing {
		return ing{spec: "ingressClassName: " + class, annotations: legacy(annotation)}
	}
	// none has no class at all: an empty annotation is one only without field.
	none := ing{spec: "{}"}
	cluster := func(o *Options) { o.ManifestMode = false }
	ambiguous := []string{"Ambiguous Ingress default/i spec.ingressClassName"}
	for name, test := range map[string]struct {
		ing      ing
		classes  string
		options  func(*Options)
		ours     bool
		problems []string
	}{
		"field":                                     {field("nginx"), classes, cluster, true, nil},
		"field, a second class of ours":             {field("second"), classes, cluster, true, nil},
		"field, another controller's":               {field("other"), classes, nil, false, nil},
		"field, no such class":                      {field("nosuch"), classes, nil, false, nil},
		"field, our name without object, manifests": {field("nginx"), otherDefault, nil, true, []string{"Classless Ingress default/i spec.ingressClassName"}},
		"field, our name without any object":        {field("nginx"), "", nil, true, nil},
		"field, our name without object, cluster":   {field("nginx"), otherDefault, cluster, true, []string{"Classless Ingress default/i spec.ingressClassName"}},
		"field, another name without object":        {field("nosuch"), classes, cluster, false, nil},
		"field, by name":                            {field("other"), classes, func(o *Options) { o.ClassByName, o.IngressClasses = true, []string{"other"} }, true, nil},
		"field, our name and not by name":           {field("other"), classes, func(o *Options) { o.IngressClasses = []string{"other"} }, false, nil},
		"annotation":                                {ing{annotations: legacy("nginx")}, classes, cluster, true, nil},
		"annotation of a list":                      {ing{annotations: legacy("inner")}, classes, func(o *Options) { o.IngressClasses = []string{"outer", "inner"} }, true, nil},
		"annotation, a second class of ours":        {ing{annotations: legacy("second")}, classes, cluster, false, nil},
		"annotation, another":                       {ing{annotations: legacy("other")}, classes, func(o *Options) { o.WithoutClass = true }, false, nil},
		"both the same":                             {both("nginx", "nginx"), classes, nil, true, nil},
		"both, the annotation is ours":              {both("nginx", "other"), classes, nil, true, ambiguous},
		"both, the field is ours":                   {both("other", "nginx"), classes, nil, false, nil},
		"an empty annotation beside a field":        {both("", "nginx"), classes, nil, true, nil},
		"unreadable, field of ours":                 {field("nginx"), otherDefault, func(o *Options) { o.ManifestMode, o.ClassesUnreadable = false, true }, true, nil},
		"unreadable, field of another":              {field("other"), classes, func(o *Options) { o.ClassesUnreadable, o.WithoutClass = true, true }, false, nil},
		"unreadable, field of a class of ours":      {field("second"), classes, func(o *Options) { o.ClassesUnreadable = true }, false, nil},
		"unreadable, none":                          {none, defaultClass, func(o *Options) { o.ClassesUnreadable = true }, false, nil},
		"unreadable, none, without class":           {none, otherDefault, func(o *Options) { o.ClassesUnreadable, o.WithoutClass = true, true }, true, nil},
		"none, two defaults, the newest is ours":    {none, older(otherDefault) + newer(defaultClass), nil, true, nil},
		"none, two defaults, the newest is another": {none, newer(otherDefault) + older(defaultClass), nil, false, nil},
		"none, two defaults of one age":             {none, otherDefault + defaultClass, nil, true, nil},
		"none, another's default, without class":    {none, otherDefault, func(o *Options) { o.WithoutClass = true }, false, nil},
		"none":                                      {none, classes, cluster, false, nil},
		"none, manifests":                           {none, classes, nil, false, nil},
		"none, without class":                       {none, classes, func(o *Options) { o.WithoutClass = true }, true, nil},
		"none, ours is the default":                 {none, defaultClass, nil, true, nil},
		"none, ours is the default, cluster":        {none, defaultClass, cluster, false, nil},
		"none, another is the default":              {none, otherDefault, nil, false, nil},
		"field of another, without class":           {field("other"), classes, func(o *Options) { o.WithoutClass = true }, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := test.ing
			i.name, i.rules = "i", []string{"h / P a:80"}
			w := world{yaml: test.classes, ingresses: []ing{i}, options: test.options}
			if i.spec == "{}" {
				w = withoutClass(w)
			}
			want := "/ -> 404"
			if test.ours {
				want = "^~ / -> a"
			}
			w.check(t, []string{"h/", want}, test.problems)
		})
	}
}

// withoutClass removes the field that a world's Ingresses have by default.
func withoutClass(w world) world {
	w.ingresses[0].spec = "# no ingressClassName: here"
	return w
}

func TestEmptyLegacyClass(t *testing.T) {
	t.Parallel()
	i := ing{name: "i", spec: "# no ingressClassName: here", annotations: map[string]string{"kubernetes.io/ingress.class": ""}, rules: []string{"h / P a:80"}}
	world{ingresses: []ing{i}, options: func(o *Options) { o.WithoutClass = true }}.check(t, []string{"h/", "/ -> 404"}, nil)
}
