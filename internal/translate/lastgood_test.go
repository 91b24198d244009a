package translate

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// TestLastGood finds mistakes that show only beside other settings, and in annotations that settings
// give.
func TestLastGood(t *testing.T) {
	t.Parallel()
	const key, fixed = "default-annotations", "fixed-annotations"
	type data = map[string]string
	for name, test := range map[string]struct{ written, good, want data }{
		"a URL that cannot be asked":      {data{"global-auth-url": "http://127.0.0.1:0/"}, data{"global-auth-url": "http://a.example/"}, data{"global-auth-url": "http://a.example/"}},
		"an annotation":                   {data{key: "whitelist-source-range: 10.0.0.0/33"}, data{key: "whitelist-source-range: 10.0.0.0/8"}, data{key: "whitelist-source-range: 10.0.0.0/8"}},
		"another annotation":              {data{key: "proxy-read-timeout: 5\nwhitelist-source-range: 10.0.0.0/33"}, data{key: "proxy-read-timeout: 5"}, nil},
		"one that protects nobody":        {data{key: "proxy-read-timeout: x"}, data{key: "proxy-read-timeout: 5"}, data{key: "proxy-read-timeout: 5"}},
		"one that was a default is fixed": {data{fixed: "whitelist-source-range: 10.0.0.0/33"}, data{key: "whitelist-source-range: 10.0.0.0/8"}, data{key: "whitelist-source-range: 10.0.0.0/8"}},
		"a line that nobody can read":     {data{key: "{whitelist-source-range: 10.0.0.0/8}"}, data{key: "whitelist-source-range: 10.0.0.0/8"}, data{key: "whitelist-source-range: 10.0.0.0/8"}},
		"such a line where none was":      {data{key: "{whitelist-source-range: 10.0.0.0/8}"}, data{key: "proxy-read-timeout: 5"}, nil},
	} {
		written, good := &corev1.ConfigMap{Data: test.written}, &corev1.ConfigMap{Data: test.good}
		inForce, problems := LastGood(written, good, "nginx.ingress.kubernetes.io")
		if test.want == nil {
			if inForce != written || len(problems) > 0 {
				t.Errorf("%s: in force is %v, with %v", name, inForce.Data, problems)
			}
			continue
		}
		if diff := cmp.Diff(test.want, inForce.Data); diff != "" || len(problems) == 0 {
			t.Errorf("%s, %v (-want +got):\n%s", name, problems, diff)
		}
	}
	other := &corev1.ConfigMap{Data: data{"keep-alive": "7"}}
	other.Name = "other"
	if written := (&corev1.ConfigMap{Data: data{"keep-alive": "x"}}); fst(LastGood(written, other, "p")) != written || fst(LastGood(written, nil, "p")) != written || fst(LastGood(nil, other, "p")) != nil {
		t.Error("values of another ConfigMap are in force")
	}
}

func fst[A, B any](a A, _ B) A { return a }
