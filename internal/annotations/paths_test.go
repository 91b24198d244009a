package annotations

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	networkingv1 "k8s.io/api/networking/v1"

	"sluice/internal/model"
	"sluice/internal/settings"
)

// withPaths is an Ingress with rules for paths.
func withPaths(annotations map[string]string, paths ...string) *networkingv1.Ingress {
	ing := &networkingv1.Ingress{}
	ing.Namespace, ing.Name, ing.Annotations = "shop", "web", annotations
	rule := networkingv1.IngressRule{}
	rule.HTTP = &networkingv1.HTTPIngressRuleValue{}
	for _, path := range paths {
		rule.HTTP.Paths = append(rule.HTTP.Paths, networkingv1.HTTPIngressPath{Path: path})
	}
	ing.Spec.Rules = []networkingv1.IngressRule{rule}
	return ing
}

func TestPathsShareWhatTheyDoNotChange(t *testing.T) {
	t.Parallel()
	s, _ := settings.Read(nil)
	a := Read(withPaths(map[string]string{
		prefix + "/proxy-body-size":           "2m",
		PathsPrefix + "proxy-read-timeout":    "/a: 5\n/b: 6",
		PathsPrefix + "denylist-source-range": "/a: ::1",
	}, "/a", "/b", "/c"), s, prefix)
	one, two := a.At("/a"), a.At("/b")
	if one.BodySize != a.BodySize || one.CORS != two.CORS || a.CORS != defaultsOf(s).CORS {
		t.Error("groups that no line changes are copies")
	}
	if a.At("/c") != a || a.At("") != a {
		t.Error("a path without a line has something of its own")
	}
	if one.Timeouts.Read != 5 || two.Timeouts.Read != 6 || a.Timeouts.Read != 60 {
		t.Errorf("timeouts of %d, %d and %d", one.Timeouts.Read, two.Timeouts.Read, a.Timeouts.Read)
	}
	if !one.Guards() || two.Guards() || a.Guards() || !a.GuardsAny() {
		t.Error("a deny list of one path protects others, or not its own")
	}
	if len(a.Problems()) > 0 {
		t.Error(a.Problems())
	}
}

// Most Ingresses say nothing: they share what holds then.
func TestIngressesWithoutAnnotationsShareOne(t *testing.T) {
	t.Parallel()
	s, _ := settings.Read(nil)
	if a, b := Read(withPaths(nil, "/"), s, prefix), Read(withPaths(map[string]string{"other/x": "y"}, "/a"), s, prefix); a != b {
		t.Error("two Ingresses without annotations have one each")
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	p := newByPath(sourceOf(withPaths(map[string]string{PathsPrefix + "x": ""}, "/", "/a", "/a: b", "", "/é(.*)$")))
	for text, want := range map[string][3]string{
		"/a: 5":        {"/a", "5", "whole"},
		"/a:":          {"/a", "", "whole"},
		"/a:\t 5 6":    {"/a", "5 6", "whole"},
		"/a: b: c":     {"/a: b", "c", "whole"},
		"/a: b":        {"/a", "b", "whole"},
		"/: /x: y":     {"/", "/x: y", "whole"},
		"/é(.*)$: /$1": {"/é(.*)$", "/$1", "whole"},
		"/a 5":         {"/a", "5", ""},
		"/a:5":         {"/a", "5", ""},
		"/a":           {"/a", "", ""},
		"/ab: 5":       {"", "", ""},
		"a: 5":         {"", "", ""},
	} {
		path, value, whole := p.split(text)
		if path != want[0] || whole != (want[2] != "") || whole && value != want[1] {
			t.Errorf("%q: path %q, value %q, whole %v", text, path, value, whole)
		}
	}
}

// Whatever is wrong with a line of what protects, its path is closed, or all.
func TestBrokenLinesClose(t *testing.T) {
	t.Parallel()
	s, _ := settings.Read(nil)
	for written, closed := range map[string]string{
		"paths.allowlist-source-range=/a: x":            "/a",
		"paths.allowlist-source-range=/a 127.0.0.1":     "/a",
		"paths.allowlist-source-range=/a: ::1\n/a: ::2": "/a",
		"paths.allowlist-source-range=/b: ::1\n/c: ::1": "all",
		"paths.allowlist-source-range=":                 "all",
		"paths.allow-list-source-range=/a: ::1":         "/a",
		"paths.allow-list-source-range=/c: ::1":         "all",
		"paths.auth-snippet=/a: a":                      "/a",
		"paths.auth-snippet=/a:":                        "",
		"paths.auth-tls-secret=/a: a/b":                 "all",
		"paths.auth-tls-match-cn=/a: CN=b":              "/a",
		"paths.proxy-ssl-verify=/a: on":                 "/a",
		"path.auth-url=/a: http://a":                    "all",
		"pathes.auth-url=/a: http://a":                  "all",
		"paths.proxy-body-size=/a: x\n/c: 1":            "",
		"path.proxy-body-size=/a: 1":                    "",
	} {
		key, value, _ := strings.Cut(written, "=")
		a := Read(withPaths(map[string]string{"sluice.io/" + key: value}, "/a", "/b"), s, prefix)
		got := ""
		switch {
		case a.Denied():
			got = "all"
		case a.At("/a").Denied():
			got = "/a"
		}
		if got != closed || a.At("/b").Denied() != (closed == "all") {
			t.Errorf("%q closes %q, want %q: %v", written, got, closed, a.Problems())
		}
		if len(a.Problems()) == 0 || a.GuardsAny() != (closed != "") {
			t.Errorf("%q: problems %v, guards %v", written, a.Problems(), a.GuardsAny())
		}
	}
}

func TestExplainByPath(t *testing.T) {
	t.Parallel()
	s, _ := settings.Read(nil)
	ing := withPaths(map[string]string{prefix + "/proxy-send-timeout": "7", PathsPrefix + "proxy-read-timeout": "/a: 5"}, "/a")
	for path, want := range map[string][2]string{"/a": {"5", PathsPrefix + "proxy-read-timeout"}, "/b": {"60", ""}} {
		for _, b := range Explain(ing, s, prefix, path) {
			for _, v := range b.Values {
				if v.Key == "proxy-read-timeout" && (v.Text != want[0] || v.Name != want[1]) {
					t.Errorf("%s: %q by %q", path, v.Text, v.Name)
				}
			}
		}
	}
}

// What is written for a path is not told twice, and names its path.
func TestProblemsByPath(t *testing.T) {
	t.Parallel()
	s, _ := settings.Read(nil)
	a := Read(withPaths(map[string]string{prefix + "/proxy-send-timeout": "x", PathsPrefix + "proxy-read-timeout": "/a: y\n/b: 5"}, "/a", "/b"), s, prefix)
	want := []string{
		`Ingress shop/web: nginx.ingress.kubernetes.io/proxy-send-timeout: want a whole number of seconds from 1 to 31536000 (got "x"); the default "60" holds until this is mended`,
		`Ingress shop/web: sluice.io/paths.proxy-read-timeout: path "/a": want a whole number of seconds from 1 to 31536000 (got "y"); the default "60" holds until this is mended`,
	}
	if diff := cmp.Diff(want, texts(a)); diff != "" {
		t.Error(diff)
	}
	if a.Problems()[0].Reason != model.InvalidValue {
		t.Error(a.Problems()[0].Reason)
	}
}
