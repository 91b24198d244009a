package translate

import (
	"fmt"
	"runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// TestManyHostsAndItems: an Ingress of a tenant with thousands of hosts and of TLS items costs by
// their sum, not by their product. The product took 6 GB for 3,000 of both, and 18 s for 20,000
// hosts.
func TestManyHostsAndItems(t *testing.T) {
	const n = 3000
	other := issue(t, "other.example")
	for name, item := range map[string]func(at int) networkingv1.IngressTLS{
		"missing Secrets": func(at int) networkingv1.IngressTLS {
			return networkingv1.IngressTLS{SecretName: fmt.Sprintf("s%d", at)}
		},
		"one Secret": func(int) networkingv1.IngressTLS { return networkingv1.IngressTLS{SecretName: "tls"} },
		"hosts of no rule": func(at int) networkingv1.IngressTLS {
			return networkingv1.IngressTLS{Hosts: []string{fmt.Sprintf("h%d.other.example", at)}, SecretName: "tls"}
		},
		"wildcards of rules": func(int) networkingv1.IngressTLS {
			return networkingv1.IngressTLS{Hosts: []string{"*.shop.example"}, SecretName: "tls"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			objects := many(0)
			object := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "many"}, Spec: networkingv1.IngressSpec{IngressClassName: new("nginx")}}
			for at := range n {
				object.Spec.Rules = append(object.Spec.Rules, networkingv1.IngressRule{Host: fmt.Sprintf("h%d.shop.example", at)})
				object.Spec.TLS = append(object.Spec.TLS, item(at))
			}
			objects.Ingresses = append(objects.Ingresses, object)
			objects.Secrets = append(objects.Secrets, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "tls"}, Data: map[string][]byte{"tls.crt": other.crt, "tls.key": other.key}})
			s, _ := snapshot.New(objects)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, problems := Config(s, testOptions(), nil)
			runtime.ReadMemStats(&after)
			if most := 6 * n; len(problems) == 0 || len(problems) > most {
				t.Errorf("%d Problems, want 1 to %d; the first is %v", len(problems), most, first(problems))
			}
			if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 200 {
				t.Errorf("%d MB were allocated, want less than 200", used)
			}
		})
	}
}

// TestManyRenewals: Secrets that come one after the other must not leave behind what was known of all
// items at each step. That took 21 MB for 300 hosts and items, and 77 MB for 600.
func TestManyRenewals(t *testing.T) {
	const n = 300
	objects, memo := many(0), NewMemo()
	object := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "many"}, Spec: networkingv1.IngressSpec{IngressClassName: new("nginx")}}
	for at := range n {
		object.Spec.Rules = append(object.Spec.Rules, networkingv1.IngressRule{Host: fmt.Sprintf("h%d.shop.example", at)})
		object.Spec.TLS = append(object.Spec.TLS, networkingv1.IngressTLS{SecretName: fmt.Sprintf("s%d", at)})
	}
	objects.Ingresses = append(objects.Ingresses, object)
	heap := func() uint64 {
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc >> 20
	}
	before := heap()
	for at := range n {
		made := issue(t, object.Spec.Rules[at].Host)
		objects.Secrets = append(objects.Secrets, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("s%d", at)}, Data: map[string][]byte{"tls.crt": made.crt, "tls.key": made.key}})
		s, _ := snapshot.New(objects)
		config, problems := Config(s, testOptions(), memo)
		if of := len(config.Dynamic.Certificates); of != at+1 || at == n-1 && len(problems) > 0 {
			t.Fatalf("%d Secrets are there and %d certificates presented; the first Problem is %v", at+1, of, first(problems))
		}
	}
	if after := heap(); after > before+10 {
		t.Errorf("the memo takes %d MB, want less than 10", after-before)
	}
	runtime.KeepAlive(memo)
}

func first(problems []model.Problem) any {
	if len(problems) == 0 {
		return nil
	}
	return problems[0]
}
