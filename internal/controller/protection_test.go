package controller

import (
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
)

// TestRefusedEditsThatProtectMoreAreClosed: the last good form of an Ingress is not
// served if the refused one restricts access more.
func TestRefusedEditsThatProtectMoreAreClosed(t *testing.T) {
	t.Parallel()
	const prefix = "nginx.ingress.kubernetes.io/"
	listed := map[string]string{prefix + "whitelist-source-range": "10.0.0.0/8"}
	make := func(annotations map[string]string, paths ...string) *networkingv1.Ingress {
		ing := form("web", "a.example")
		ing.Annotations = annotations
		kind := networkingv1.PathTypePrefix
		ing.Spec.Rules[0].HTTP = &networkingv1.HTTPIngressRuleValue{}
		for _, path := range paths {
			ing.Spec.Rules[0].HTTP.Paths = append(ing.Spec.Rules[0].HTTP.Paths, networkingv1.HTTPIngressPath{Path: path, PathType: &kind})
		}
		return ing
	}
	class := make(listed, "/admin")
	class.Spec.IngressClassName = new(string)
	c := idle(t, &objects{})
	c.sync(t.Context())
	for name, test := range map[string]struct {
		refused, good *networkingv1.Ingress
		want          bool
	}{
		"a path is added":               {make(listed, "/admin", "/secret"), make(listed, "/admin"), true},
		"a path is taken away":          {make(listed, "/admin"), make(listed, "/admin", "/secret"), false},
		"patterns are asked for":        {make(map[string]string{prefix + "whitelist-source-range": "10.0.0.0/8", prefix + "use-regex": "true"}, "/admin"), make(listed, "/admin"), true},
		"another class":                 {class, make(listed, "/admin"), true},
		"HTTPS only":                    {make(map[string]string{prefix + "force-ssl-redirect": "true"}, "/pay"), make(nil, "/pay"), true},
		"a list is added":               {make(listed, "/admin"), make(nil, "/admin"), true},
		"a path is added, but no list":  {make(nil, "/admin", "/more"), make(nil, "/admin"), false},
		"nothing that keeps anyone out": {make(map[string]string{prefix + "use-regex": "true"}, "/(a"), make(nil, "/a"), false},
	} {
		if got := c.addsProtection(test.refused, test.good); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// TestRetryTimerIsNotPutOff by repeated failures: it would never fire.
func TestRetryTimerIsNotPutOff(t *testing.T) {
	t.Parallel()
	c := idle(t, &objects{})
	c.retryLater()
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		c.retryLater()
		select {
		case <-c.retry:
			return
		default:
		}
	}
	t.Error("it never ended")
}
