package translate

import "testing"

func TestNearClass(t *testing.T) {
	t.Parallel()
	served := []string{"nginx", "internal-a"}
	for name, want := range map[string]string{
		"ngnix": "nginx", "nignx": "nginx", "nginxx": "nginx", "ngin": "nginx", "nginy": "nginx", "Nginx": "nginx", "internl-a": "internal-a",
		"nginx2": "", "nginx-b": "", "internal-b": "", "external-a": "", "traefik": "", "alb": "", "": "", "nginx-internal": "",
	} {
		if got := nearClass(name, served); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

// The spec.controller of a class is compared in the same way; its last word may be one
// letter.
func TestSlipsOfControllers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		written, meant string
		want           bool
	}{
		{"k8s.io/ingres-nginx", "k8s.io/ingress-nginx", true},
		{"K8s.io/ingress-nginx", "k8s.io/ingress-nginx", true},
		{"k8s.io/ingress-nginx-b", "k8s.io/ingress-nginx", false},
		{"k8s.io/ingress-nginx-2", "k8s.io/ingress-nginx", false},
		{"example.org/a", "example.org/b", false},
		{"a.example.org/web", "b.example.org/web", false},
		{"nginx.org/ingress-controller", "k8s.io/ingress-nginx", false},
	} {
		if got := isSlip(test.written, test.meant); got != test.want {
			t.Errorf("%s for %s: got %v", test.written, test.meant, got)
		}
	}
}
