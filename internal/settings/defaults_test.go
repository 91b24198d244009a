package settings

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestMisplacedAnnotationsOfNamespaces: what was meant to give annotations to Ingresses, and
// does not, is a Problem, and closes their paths if it may protect.
func TestMisplacedAnnotationsOfNamespaces(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string // of the Problem, "" for none
		denies     bool
	}{
		{"sluice.io/defaults", "", false},
		{"sluice.io/fixed", "", false},
		{"sluice.io/host-delegation", "", false},
		{"example.com/fixed", "", false},
		{"kubernetes.io/metadata.name", "", false},
		{"sluice.oi/owner", "", false},
		{"sluice.io/owner", "no annotation of a Namespace has this name", false},
		{"sluice.io/host-delegations", `did you mean "sluice.io/host-delegation"?`, false},
		{"sluice.io/fixd", `did you mean "sluice.io/fixed"?`, true},
		{"Sluice.io/fixed", `did you mean "sluice.io/fixed"?`, true},
		{"sluice.oi/fixed", `did you mean "sluice.io/fixed"?`, true},
		{"sluice/defaults", `did you mean "sluice.io/defaults"?`, true},
		{"sluice.io/fixed-annotations", `did you mean "sluice.io/fixed"?`, true},
		{"sluice.io/default-annotations", `did you mean "sluice.io/defaults"?`, true},
		{"nginx.ingress.kubernetes.io/fixed", `did you mean "sluice.io/fixed"?`, true},
		{"example.org/fixed", `did you mean "sluice.io/fixed"?`, true},
		{"example.org/limit-rps", "want it as a line of sluice.io/defaults or sluice.io/fixed", false},
		{"sluice.dev/fixed", `did you mean "sluice.io/fixed"?`, true},
		{"fixed", `did you mean "sluice.io/fixed"?`, true},
		{"fixed-annotations", `did you mean "sluice.io/fixed"?`, true},
		{"owner", "", false},
		{"nginx.ingress.kubernetes.io/limit-rps", "want it as a line of sluice.io/defaults or sluice.io/fixed", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, _ := Read(nil)
			of, problems := s.OfNamespace(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop", Annotations: map[string]string{test.name: "proxy-body-size: 8m"}}}, "example.org")
			if of.Denies() != test.denies {
				t.Errorf("denies %t, want %t", of.Denies(), test.denies)
			}
			if (test.text == "") != (len(problems) == 0) || len(problems) > 0 && (!strings.Contains(problems[0].Text, test.text) || problems[0].Field != test.name || problems[0].Denies != test.denies) {
				t.Errorf("problems %+v, want the text %q", problems, test.text)
			}
		})
	}
}
