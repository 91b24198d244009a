package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
)

// Foreign is the reason of an annotation that is another controller's.
const Foreign model.Reason = "Foreign"

// controllers are those whose annotations are seen on Ingresses, by their prefixes.
var controllers = map[string]string{
	"alb.ingress.kubernetes.io":     "the AWS Load Balancer Controller",
	"appgw.ingress.kubernetes.io":   "Azure Application Gateway",
	"haproxy-ingress.github.io":     "HAProxy Ingress",
	"haproxy.org":                   "HAProxy's controller",
	"konghq.com":                    "Kong",
	"nginx.com":                     "F5's controller",
	"nginx.org":                     "F5's controller",
	"projectcontour.io":             "Contour",
	"traefik.ingress.kubernetes.io": "Traefik",
}

// oldPrefix is the one of the first controllers, ingress-nginx's among them.
const oldPrefix = "ingress.kubernetes.io"

// OfOthers tells of the annotations of an Ingress that nothing reads here, as their
// prefix is another controller's or an older one, and what to write instead. They are
// no mistakes: another controller may serve the Ingress, too.
func OfOthers(ing *networkingv1.Ingress, prefix string) []model.Problem {
	var problems []model.Problem
	for _, key := range slices.Sorted(maps.Keys(ing.Annotations)) {
		of, name, _ := strings.Cut(key, "/")
		controller := controllers[of]
		if of == prefix || controller == "" && of != oldPrefix {
			continue
		}
		p := model.Problem{Object: model.ObjectRef{Kind: "Ingress", Namespace: ing.Namespace, Name: ing.Name}, Field: key, Reason: Foreign}
		if p.Text = fmt.Sprintf("it is an annotation of %s: nothing reads it here", controller); of == oldPrefix {
			p.Reason, p.Text = model.Unread, "nothing reads annotations with this older prefix"
		}
		if right := nameOf(name); right != "" {
			p.Text += "; write " + prefix + "/" + right
		}
		problems = append(problems, p)
	}
	return problems
}

// nameOf is what an annotation of another controller is called here, "" if nothing.
func nameOf(name string) string {
	if catalog.Has(name) {
		return name
	}
	return otherwise[name]
}
