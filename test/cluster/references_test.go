package cluster

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Objects that annotations name come, change and go: the Secret with the users of
// basic authentication, whichever way Secrets are watched, and the ConfigMap with the
// headers of answers, which is watched by its name. What is missing closes the paths.
func TestReferencedObjectsComeChangeAndGo(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"metadata", "referenced"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			name := "references-" + mode
			s := newSite(t, Shared(t), name, "--watch-secrets", mode, "--configmap", name+"/settings")
			s.Apply(t, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "settings"}, Data: map[string]string{"global-allowed-response-headers": "X-One"}})
			s.web(t, "web", 1)
			users := func(password string) *corev1.Secret {
				return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "users"}, Data: map[string][]byte{"auth": []byte("ann:{PLAIN}" + password)}}
			}
			headers := func(value string) *corev1.ConfigMap {
				return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "headers"}, Data: map[string]string{"X-One": value}}
			}
			host := name + ".example"
			s.Apply(t, annotated(s.ingress("web", Rule(host, "/", "web", 80)), "auth-type", "basic", "auth-secret", "users"),
				annotated(s.ingress("headed", Rule("headed."+host, "/", "web", 80)), "custom-headers", name+"/headers"))
			stranger, ann, headed := s.get(host, "/"), s.get(host, "/"), s.get("headed."+host, "/")
			ann.Header = http.Header{"Authorization": {"Basic YW5uOm9uZQ=="}} // ann:one
			closed, says := status(http.StatusServiceUnavailable), func(value string) func(*Answer) bool {
				return func(a *Answer) bool { return from("web")(a) && a.Header.Get("X-One") == value }
			}
			EventuallyAnswer(t, ann, "503, without the Secret", closed)
			takes(t, "users created", func() { s.Apply(t, users("one")) }, ann, from("web"))
			must(t, stranger, "a question for a password", status(http.StatusUnauthorized))
			takes(t, "another password", func() { s.Apply(t, users("two")) }, ann, status(http.StatusUnauthorized))
			takes(t, "the first password again", func() { s.Apply(t, users("one")) }, ann, from("web"))
			s.hidden(t, "{PLAIN}")
			takes(t, "users deleted", func() { s.Delete(t, users("")) }, ann, closed)

			must(t, headed, "503, without the ConfigMap", closed)
			takes(t, "headers created", func() { s.Apply(t, headers("one")) }, headed, says("one"))
			takes(t, "headers changed", func() { s.Apply(t, headers("two")) }, headed, says("two"))
			takes(t, "headers deleted", func() { s.Delete(t, headers("")) }, headed, closed)
		})
	}
}

// hidden wants a text in no file that nginx's master reads, and in no line of the log.
func (s *site) hidden(t *testing.T, text string) {
	t.Helper()
	conf, err := os.ReadFile(filepath.Join(s.State, "nginx.conf"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(conf), text) || len(s.Log.Lines(t, text)) > 0 {
		t.Errorf("%q of a Secret is in nginx.conf or in the log", text)
	}
}
