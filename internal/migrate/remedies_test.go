package migrate

import (
	"strconv"
	"strings"
	"testing"

	"sluice/internal/lint"
	"sluice/internal/model"
)

// TestRemedies: each remedy fits its finding.
func TestRemedies(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		annotation string
		status     Status
		want, not  string
	}{
		{`configuration-snippet: "more_set_headers \"X-One: 1\";"`, Unavailable, "Write these annotations in place of the snippet", "No annotation"},
		{`configuration-snippet: "proxy_buffering_no_such on;"`, Unavailable, "No annotation does the same. Set allow-snippet-annotations: \"true\" and annotations-risk-level: Critical", "Write these"},
		{`configuration-snippet: "more_set_headers \"X-One: 1\"; aio threads;"`, Unavailable, "For the lines that are not replaced: Set allow-snippet-annotations", "in place of the snippet"},
		{`auth-snippet: "proxy_set_header X-One 1;"`, Unavailable, "Set allow-snippet-annotations", "remove the snippet"},
		{`auth-snippet: "proxy_set_header X-One 1;"`, Unavailable, "Write the annotation that the text names beside it.\nAlso needed: Set allow-snippet-annotations", "Write a valid value"},
		{`canary: "true"`, Ready, "Make the main Ingress, or give the canary a host", "Make the object"},
		{`global-auth-url: "https://sign-in.example/"`, Unavailable, "Write it in the ConfigMap of the controller", "Correct the name"},
		{`worker-processes: "2"`, Ready, "Write it in the ConfigMap of the controller", "Correct the name"},
		{`secure-backends: "true"`, Ready, "Write the one that the text names", "Correct the name"},
		{`session-cookie-hash: sha1`, Ready, "Remove it.", "Correct the name"},
		{`permanent-redirect-code: "308"`, Ready, "Write the one that it needs beside it", "Correct the name"},
		{`global-rate-limit: "100"`, Different, "Write limit-rps or limit-rpm", "Correct the name"},
		{`proxy-body-sizes: 1m`, Ready, "Correct the name, or remove it.", "Write the one"},
		{`whitelist-source-ranges: 10.0.0.0/8`, Unavailable, "Correct the name. It seems to protect", "or remove it"},
	} {
		t.Run(test.annotation, func(t *testing.T) {
			t.Parallel()
			m := read(t, strings.ReplaceAll(strings.ReplaceAll(around, "{%s}", "{}"), "annotations: {}", "annotations: {nginx.ingress.kubernetes.io/"+test.annotation+"}"))
			i := Look(m, optionsFor(t), Setup{}).Ingresses[0]
			var remedies []string
			for _, item := range i.Items {
				remedies = append(remedies, item.Remedy)
			}
			all := strings.Join(remedies, "\n")
			if i.Status != test.status || !strings.Contains(all, test.want) || strings.Contains(all, test.not) {
				t.Errorf("%s with %q, want %s with %q and without %q: %+v", i.Status, all, test.status, test.want, test.not, i.Items)
			}
		})
	}
}

// TestReadyLeavesNothingBehind: no annotation of ingress-nginx is ready and has the advice to
// leave its Ingress with ingress-nginx.
func TestReadyLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	o := optionsFor(t)
	for _, e := range catalogOf(t, "annotations.csv", true) {
		i := with(t, o, "nginx.ingress.kubernetes.io/"+e.name+": "+strconv.Quote(e.value), "").Ingresses[0]
		for _, item := range i.Items {
			if i.Status == Ready && strings.Contains(item.Remedy, "leave this Ingress with ingress-nginx") {
				t.Errorf("%s is ready: %s: %s", e.name, item.Text, item.Remedy)
			}
		}
	}
	for _, f := range []lint.Finding{{Reason: "Unsupported", Severity: lint.Note}} {
		l := &look{}
		if item := l.item(f); item.Status == Note && strings.Contains(item.Remedy, "leave this Ingress") {
			t.Errorf("a note: %s", item.Remedy)
		}
	}
}

// TestSnippetsThatCannotBeChecked: where snippets are allowed, no remedy is to allow them.
func TestSnippetsThatCannotBeChecked(t *testing.T) {
	t.Parallel()
	for _, snippet := range []string{`aio threads`, `aio threads; if ($uri = /a) {`, `more_set_headers \"X-One: 1\"; set $proxy_upstream_name x;`} {
		r := with(t, optionsFor(t), `nginx.ingress.kubernetes.io/configuration-snippet: "`+snippet+`"`, `allow-snippet-annotations: "true", annotations-risk-level: Critical`)
		items := r.Ingresses[0].Items
		if len(items) == 0 || items[0].Status != Unavailable || !strings.Contains(items[0].Remedy, "also where snippets are allowed") || strings.Contains(items[0].Remedy, "allow-snippet") {
			t.Errorf("%s: %+v", snippet, items)
		}
	}
}

// TestRemediesNameTheObject: of two objects with one name, the remedy names their kind.
func TestRemediesNameTheObject(t *testing.T) {
	t.Parallel()
	f := lint.Finding{Reason: "Conflict", Field: "metadata.name", Object: model.ObjectRef{Kind: "Service", Namespace: "shop", Name: "web"}, Text: "want one Service of this name (got several)"}
	if got := remedyOf(f, "metadata.name"); got != "Keep one Service of this name." {
		t.Error(got)
	}
}
