package plugin

import (
	"bytes"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"sluice/internal/model"
)

// TestNames: each object once, also where those of two namespaces are called the
// same.
func TestNames(t *testing.T) {
	t.Parallel()
	problems := []byte(`[{"object":{"kind":"Ingress","namespace":"a","name":"web"}},{"object":{"kind":"Ingress","namespace":"b","name":"web"}},
		{"object":{"kind":"Secret","namespace":"a","name":"web"}},{"object":{"kind":"Ingress","namespace":"a","name":"web"}}]`)
	certificates := []byte(`[{"secrets":[{"namespace":"a","name":"web"},{"namespace":"b","name":"web"}]},{"secrets":[{"namespace":"a","name":"web"}]}]`)
	rows := []ingressRow{{Namespace: "a", Name: "web", Path: "/x"}, {Namespace: "a", Name: "web", Path: "/y"}, {Namespace: "b", Name: "web"}}
	for name, test := range map[string]struct {
		print func(output) error
		want  string
	}{
		"problems": {func(o output) error {
			s := &session{streams: genericiooptions.NewTestIOStreamsDiscard()}
			return printed(o, problems, func(o output, p []model.Problem) error { return s.printProblems(o, p, "") })
		}, "ingress/web\nsecret/web\ningress/web\n"},
		"certs":     {func(o output) error { return printed(o, certificates, printCertificates) }, "secret/web\nsecret/web\n"},
		"ingresses": {func(o output) error { return printIngresses(o, rows, true) }, "ingress.networking.k8s.io/web\ningress.networking.k8s.io/web\n"},
	} {
		var out bytes.Buffer
		if err := test.print(output{Writer: &out, format: asName}); err != nil || out.String() != test.want {
			t.Errorf("%s: %v, %q, want %q", name, err, out.String(), test.want)
		}
	}
}
