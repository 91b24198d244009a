package controller

import (
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/render"
	"sluice/internal/translate"
)

// basis is what nginx's verdict on an Ingress depended on besides the Ingress:
// templates, settings and the Secrets that it names. The nginx itself is the same
// as long as we run.
type basis struct {
	templates *render.Templates
	configs   []*corev1.ConfigMap
	secrets   []*corev1.Secret
}

// basisOf gives the basis of an Ingress in a plan.
func (p *plan) basisOf(ing *networkingv1.Ingress) basis {
	b := basis{templates: p.templates, configs: p.configs}
	for _, name := range translate.Secrets(ing, p.options) {
		b.secrets = append(b.secrets, p.snap.Secret(name))
	}
	return b
}

// configsOf gives the ConfigMaps that say what nginx gets for Ingresses.
func (p *plan) configsOf() []*corev1.ConfigMap {
	var configs []*corev1.ConfigMap
	for _, name := range translate.ConfigMaps(p.snap.IngressClasses(), p.options) {
		if name != p.options.TCPServices && name != p.options.UDPServices {
			configs = append(configs, p.served.ConfigMap(name))
		}
	}
	return configs
}

// same compares what is said, as a source may decode the same object anew.
func (b basis) same(o basis) bool {
	return b.templates == o.templates &&
		slices.EqualFunc(b.configs, o.configs, func(a, b *corev1.ConfigMap) bool {
			return a == b || a != nil && b != nil && sameSettings(a, b)
		}) &&
		slices.EqualFunc(b.secrets, o.secrets, func(a, b *corev1.Secret) bool {
			return a == b || a != nil && b != nil && reflect.DeepEqual(a.Data, b.Data)
		})
}
