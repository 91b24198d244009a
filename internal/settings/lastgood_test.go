package settings

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// TestRecall: a group with a mistake has its last good values, unless a protection would be missing
// then.
func TestRecall(t *testing.T) {
	t.Parallel()
	type data = map[string]string
	for name, test := range map[string]struct{ written, good, want data }{
		"nothing is wrong":               {data{"keep-alive": "5"}, data{"keep-alive": "7"}, data{"keep-alive": "5"}},
		"a list":                         {data{"whitelist-source-range": "10.0.0.0/33"}, data{"whitelist-source-range": "10.0.0.0/8"}, data{"whitelist-source-range": "10.0.0.0/8"}},
		"its group, and no other":        {data{"keep-alive": "x", "keep-alive-requests": "5", "hsts": "false"}, data{"keep-alive": "7"}, data{"keep-alive": "7", "hsts": "false"}},
		"one that was not set":           {data{"keep-alive": "x"}, data{"hsts": "false"}, data{}},
		"a protection that was not set":  {data{"whitelist-source-range": "10.0.0.0/33"}, data{"denylist-source-range": "10.0.0.0/8"}, nil},
		"a protection that was off":      {data{"force-ssl-redirect": "ture"}, data{"force-ssl-redirect": "false"}, nil},
		"a protection that was on":       {data{"force-ssl-redirect": "ture"}, data{"force-ssl-redirect": "true"}, data{"force-ssl-redirect": "true"}},
		"one more, by another key":       {data{"denylist-source-range": "x", "whitelist-source-range": "10.0.0.0/8"}, data{"whitelist-source-range": "10.0.0.0/8"}, nil},
		"a new one beside a mistake":     {data{"global-auth-url": "http://a.example/", "global-auth-cache-duration": "bad"}, data{}, data{"global-auth-url": "http://a.example/"}},
		"a new one that was off":         {data{"force-ssl-redirect": "true", "ssl-redirect": "yess"}, data{"Force-SSL-Redirect": "false", "ssl-redirect": "false"}, data{"force-ssl-redirect": "true", "ssl-redirect": "false"}},
		"a new list beside a bad one":    {data{"whitelist-source-range": "10.0.0.0/8", "denylist-source-range": "x"}, data{"denylist-source-range": "192.0.2.1"}, data{"whitelist-source-range": "10.0.0.0/8", "denylist-source-range": "192.0.2.1"}},
		"a new one beside the last ones": {data{"whitelist-source-range": "x", "denylist-source-range": "192.0.2.1"}, data{"whitelist-source-range": "10.0.0.0/8"}, data{"whitelist-source-range": "10.0.0.0/8", "denylist-source-range": "192.0.2.1"}},
		"a part of a protection":         {data{"global-auth-url": "http://a.example/", "global-auth-response-headers": "a b"}, data{"global-auth-url": "http://b.example/"}, data{"global-auth-url": "http://b.example/"}},
		"a part of one that was not set": {data{"global-auth-url": "http://a.example/", "global-auth-response-headers": "a b"}, data{"keep-alive": "7"}, nil},
		"a snippet":                      {data{"HTTP-Snippet": "map $a $b {"}, data{"http-snippet": "map $a $b { }"}, data{"http-snippet": "map $a $b { }"}},
		"a snippet that was not set":     {data{"http-snippet": "map $a $b {"}, data{}, nil},
		"a misspelled name":              {data{"whitelist-source-rang": "10.0.0.0/8", "keep-alive": "5"}, data{"whitelist-source-range": "10.0.0.0/8"}, data{"whitelist-source-range": "10.0.0.0/8", "keep-alive": "5"}},
		"a misspelled name of a new one": {data{"whitelist-source-rang": "10.0.0.0/8"}, data{}, nil},
		"names that differ in case":      {data{"Block-Cidrs": "192.0.2.1", "block-cidrs": "192.0.2.2"}, data{"block-cidrs": "192.0.2.2"}, data{"block-cidrs": "192.0.2.2"}},
		"a permission that ends":         {data{"allow-snippet-annotations": "false", "annotations-risk-level": "Criticl"}, data{"allow-snippet-annotations": "true", "annotations-risk-level": "Critical"}, data{"allow-snippet-annotations": "false", "annotations-risk-level": "Critical"}},
		"a permission that is taken out": {data{"annotations-risk-level": "Criticl"}, data{"Allow-Snippet-Annotations": "true", "allow-cross-namespace-resources": "true", "annotations-risk-level": "Critical"}, data{"annotations-risk-level": "Critical"}},
		"a lower risk":                   {data{"annotations-risk-level": "Low", "allow-snippet-annotations": "flase"}, data{"annotations-risk-level": "Critical", "allow-snippet-annotations": "true"}, data{"annotations-risk-level": "Low", "allow-snippet-annotations": "true"}},
		"a new permission":               {data{"annotations-risk-level": "Critical", "allow-cross-namespace-resources": "true", "allow-snippet-annotations": "ture"}, data{"annotations-risk-level": "High"}, data{"annotations-risk-level": "High"}},
		"words that are new":             {data{"annotation-value-word-blocklist": "alias", "allow-snippet-annotations": "ture"}, data{"annotations-risk-level": "Low"}, data{"annotations-risk-level": "Low", "annotation-value-word-blocklist": "alias"}},
		"a stricter default":             {data{"annotations-risk-levl": "Critical"}, data{"annotations-risk-level": "High"}, data{"annotations-risk-level": "High"}},
		"words beside the last ones":     {data{"annotation-value-word-blocklist": "alias,root", "annotations-risk-level": "Criticl"}, data{"annotation-value-word-blocklist": "alias"}, data{"annotation-value-word-blocklist": "alias,root"}},
		"a new bound":                    {data{"max-hosts-per-namespace": "100", "max-paths-per-namespace": "1k"}, data{}, data{"max-hosts-per-namespace": "100"}},
		"a lower bound":                  {data{"max-hosts-per-namespace": "100", "max-paths-per-namespace": "unlimited"}, data{"max-hosts-per-namespace": "1000", "max-paths-per-namespace": "5"}, data{"max-hosts-per-namespace": "100", "max-paths-per-namespace": "5"}},
		"a higher bound":                 {data{"max-hosts-per-namespace": "0", "max-paths-per-namespace": "x"}, data{"max-hosts-per-namespace": "9"}, data{"max-hosts-per-namespace": "9"}},
		"an exempt path that is out":     {data{"no-auth-locations": "/a", "global-auth-cache-duration": "bad", "global-auth-url": "http://a.example/"}, data{"no-auth-locations": "/a,/b", "global-auth-url": "http://a.example/"}, data{"no-auth-locations": "/a", "global-auth-url": "http://a.example/"}},
		"where requests may go":          {data{"target-scope": "namespaced"}, data{"target-scope": "any"}, nil},
		"where requests may go, unset":   {data{"target-scop": "namespace"}, data{}, nil},
		"the last values are wrong too":  {data{"keep-alive": "x", "keep-alive-requests": "5"}, data{"keep-alive": "y"}, nil},
		"a snippet that nginx refused":   {data{"http-snippet": "map $a $b {"}, data{"http-snippet": unknownSnippet}, nil},
	} {
		written, good := &corev1.ConfigMap{Data: test.written}, &corev1.ConfigMap{Data: test.good}
		now, _ := Read(written)
		then, _ := Read(good)
		inForce, problems := Recall(written, good, now.Mistakes(), then.Mistakes())
		if test.want == nil && (inForce != written || len(problems) > 0) {
			t.Errorf("%s: in force is %v, with %v", name, inForce.Data, problems)
		}
		if test.want == nil {
			continue
		}
		if diff := cmp.Diff(test.want, inForce.Data); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if s, left := Read(inForce); s.Denies() || len(left) > 0 {
			t.Errorf("%s: it denies: %t, and has %v", name, s.Denies(), left)
		}
		for _, p := range problems {
			if p.Denies || p.Field == "" || !strings.Contains(strings.ToLower(p.Text), "the last value that nginx confirmed stays in force") {
				t.Errorf("%s: %+v", name, p)
			}
		}
	}
}

// TestRecalledProblems name the settings that are not in force besides.
func TestRecalledProblems(t *testing.T) {
	t.Parallel()
	written := &corev1.ConfigMap{Data: map[string]string{"keep-alive": "x", "keep-alive-requests": "5", "client-body-timeout": "60"}}
	good := &corev1.ConfigMap{Data: map[string]string{"client-header-timeout": "9", "client-body-timeout": "60"}}
	now, _ := Read(written)
	_, problems := Recall(written, good, now.Mistakes(), nil)
	want := `want a whole number of seconds from 0 to 31536000 (got "x"); the last value that nginx confirmed stays in force, and so do those of the same group: client-header-timeout, keep-alive-requests`
	if len(problems) != 1 || problems[0].Text != want {
		t.Errorf("got %v, want %s", problems, want)
	}
}
