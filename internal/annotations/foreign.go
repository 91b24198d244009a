package annotations

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
)

// Foreign is the reason for an annotation of another controller.
const Foreign model.Reason = "Foreign"

// controllers are other controllers with annotations on Ingresses, by their prefixes.
var controllers = map[string]string{
	"alb.ingress.kubernetes.io":     "the AWS Load Balancer Controller",
	"appgw.ingress.kubernetes.io":   "Azure Application Gateway",
	"getambassador.io":              "Emissary",
	"haproxy-ingress.github.io":     "HAProxy Ingress",
	"haproxy.com":                   "HAProxy's controller",
	"haproxy.org":                   "HAProxy's controller",
	"ingress.appscode.com":          "Voyager",
	"ingress.citrix.com":            "Citrix's controller",
	"k8s.apisix.apache.org":         "APISIX",
	"konghq.com":                    "Kong",
	"mse.ingress.kubernetes.io":     "Alibaba's MSE",
	"nginx.com":                     "F5's controller",
	"nginx.org":                     "F5's controller",
	"projectcontour.io":             "Contour",
	"traefik.ingress.kubernetes.io": "Traefik",
}

// oldPrefix is the prefix of the first controllers, including ingress-nginx.
const oldPrefix = "ingress.kubernetes.io"

// OfOthers reports the annotations with the prefix of another controller or with an older
// prefix, and protecting ones with any other prefix, and what to write instead. It never
// denies, because another controller may serve the Ingress as well.
func OfOthers(ing *networkingv1.Ingress, prefix string) []model.Problem {
	var problems []model.Problem
	for _, key := range slices.Sorted(maps.Keys(ing.Annotations)) {
		at := strings.LastIndexByte(key, '/')
		of, name := key[:max(at, 0)], key[at+1:]
		if meant, _ := meantKey(key, prefix+"/"); of == prefix || meant != "" {
			continue
		}
		right := nameOf(name)
		p := model.Problem{Object: model.ObjectRef{Kind: "Ingress", Namespace: ing.Namespace, Name: ing.Name}, Field: key, Reason: model.Unread}
		controller, known := controllers[of]
		switch {
		case known:
			p.Reason, p.Text = Foreign, fmt.Sprintf("it is an annotation of %s: nothing reads it here", controller)
		case of == oldPrefix:
			p.Text = "nothing reads annotations with this older prefix"
		case catalog.Closes(right, ing.Annotations[key]):
			p.Text = "nothing reads it here, so that it protects nothing"
		default:
			continue
		}
		if right != "" {
			p.Text += "; write " + FieldOf(prefix+"/", right)
		}
		problems = append(problems, p)
	}
	return problems
}

// nameOf returns our name for an annotation of another controller, "" for none.
func nameOf(name string) string {
	if catalog.Has(name) {
		return name
	}
	return otherwise[name]
}
