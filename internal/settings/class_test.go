package settings

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/keys"
	"sluice/internal/model"
)

// ofClass reads settings of a class, in which all but worker-processes and http-snippet may be said.
func ofClass(s *Settings, data map[string]string) (*Settings, []string) {
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "class"}, Data: data}
	c, problems := s.OfClass(cm, func(key string) bool { return key != "worker-processes" && key != "http-snippet" })
	return c, lines(problems)
}

func TestOfClass(t *testing.T) {
	t.Parallel()
	s, _ := read(map[string]string{
		"worker-processes": "2", "proxy-read-timeout": "120", "proxy-send-timeout": "90", "whitelist-source-range": "10.0.0.0/8", "annotations-risk-level": "Medium",
	})
	got, problems := ofClass(s, map[string]string{
		"Proxy-Read-Timeout": "7", "proxy-send-timeout": "", "whitelist-source-range": "", "annotations-risk-level": "Low",
	})
	if len(problems) > 0 {
		t.Errorf("problems: %v", problems)
	}
	want, _ := read(map[string]string{"worker-processes": "2", "proxy-read-timeout": "7", "proxy-send-timeout": "90", "annotations-risk-level": "Low"})
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Settings{})); diff != "" {
		t.Error(diff)
	}
	for key, want := range map[string][2]string{
		"proxy-read-timeout": {"7", "team/class"}, "proxy-send-timeout": {"90", "ingress/controller"}, "whitelist-source-range": {"", "team/class"},
		"proxy-connect-timeout": {"5", ""}, "worker-processes": {"2", "ingress/controller"},
	} {
		text, _ := got.Value(key)
		object, written := got.Origin(key)
		if text != want[0] || written != (want[1] != "") || written && object.Namespace+"/"+object.Name != want[1] {
			t.Errorf("%s: %q from %s, want %q from %q", key, text, object, want[0], want[1])
		}
	}
	if got.Controller() != s || s.Controller() != s || s.Proxy.ReadTimeout != 120 || s.Once("k", func(*Settings) any { return 1 }) == got.Once("k", func(*Settings) any { return 2 }) {
		t.Error("the settings of the controller are not what they were")
	}
}

func TestOfClassProblems(t *testing.T) {
	t.Parallel()
	s, _ := read(map[string]string{"proxy-read-timeout": "120", "denylist-source-range": "office"})
	got, problems := ofClass(s, map[string]string{
		"worker-processes": "7", "proxy-read-timeout": "60s", "whitelist-source-range": "home", "denylist-source-range": "10.0.0.1",
		"proxy-real-ip-cidr": "bad", "annotations-risk-level": "Critical", "use-gziip": "true", "http-snippet": "x;",
	})
	want := []string{
		`InvalidValue ConfigMap team/class: annotations-risk-level: want no more than the ConfigMap of the controller allows, which is High (got Critical)`,
		`Unsupported ConfigMap team/class: http-snippet: this setting is one for the whole nginx, and not for the Ingresses of a class: it counts only in the ConfigMap of the controller; every path that these settings apply to answers 503 until this is mended`,
		`InvalidValue ConfigMap team/class: proxy-read-timeout: want a whole number of seconds from 1 to 31536000 (got "60s")`,
		`InvalidValue ConfigMap team/class: proxy-real-ip-cidr: want IP addresses and networks separated by commas, such as "10.0.0.0/8, 2001:db8::/32" (got "bad"); no proxy is believed until this is mended`,
		`Unread ConfigMap team/class: use-gziip: no setting has this name; did you mean "use-gzip"?`,
		`InvalidValue ConfigMap team/class: whitelist-source-range: want IP addresses and networks separated by commas, such as "10.0.0.0/8, 2001:db8::/32" (got "home"); every path that these settings apply to answers 503 until this is mended`,
		`Unsupported ConfigMap team/class: worker-processes: this setting is one for the whole nginx, and not for the Ingresses of a class: it counts only in the ConfigMap of the controller`,
	}
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Error(diff)
	}
	if got.Proxy.ReadTimeout != 120 || got.Workers.Processes != s.Workers.Processes || got.Annotations.RiskLevel != keys.RiskHigh || len(got.Forwarded.Trusted) > 0 {
		t.Errorf("what is not taken has an effect: %+v", got)
	}
	if !got.Broken("whitelist-source-range") || got.Broken("denylist-source-range") || !got.Denies() {
		t.Error("a class that cannot protect its paths leaves them open, or one that can does not")
	}
	if s.Broken("whitelist-source-range") || !s.Broken("denylist-source-range") || s.Denies() {
		t.Error("a class changes what the controller protects")
	}
	if want := []model.ObjectRef{{Kind: "ConfigMap", Namespace: "team", Name: "class"}, {Kind: "ConfigMap", Namespace: "ingress", Name: "controller"}}; !slices.Equal(got.Origins(), want) {
		t.Errorf("origins: %v", got.Origins())
	}
}

// A class cannot mend what the controller denies altogether.
func TestOfClassInheritsDenial(t *testing.T) {
	t.Parallel()
	s, _ := read(map[string]string{"http-snippet": "x", "whitelist-source-range": "office"})
	got, _ := ofClass(s, nil)
	if !got.Denies() || !got.Broken("whitelist-source-range") {
		t.Error("paths that are denied are open for a class")
	}
}

func TestPerClassAreSettings(t *testing.T) {
	t.Parallel()
	s, _ := Read(nil)
	for _, key := range PerClass() {
		if _, ok := s.Value(key); !ok {
			t.Errorf("%s is no setting", key)
		}
	}
}
