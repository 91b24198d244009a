package injection

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/model"
	"sluice/internal/snapshot"
)

// withAnnotation gives the world with snippets allowed and an annotation on the Ingress
// rich; with no annotation if the value is empty.
func withAnnotation(t *testing.T, key, value string) snapshot.Objects {
	t.Helper()
	objects := withData(sharedWorld(t), snippetsAllowed)
	objects.Ingresses = slices.Clone(objects.Ingresses)
	for i, ing := range objects.Ingresses {
		if ing.Name == "rich" {
			objects.Ingresses[i] = ing.DeepCopy()
			if objects.Ingresses[i].Annotations[key] = value; value == "" {
				delete(objects.Ingresses[i].Annotations, key)
			}
		}
	}
	return objects
}

// A named snippet has the directives that the administrator wrote, with as many
// arguments, whatever its users write; or its paths answer 503.
func TestArgumentsOfNamedSnippetsStayArguments(t *testing.T) {
	t.Parallel()
	types := map[string]string{
		"string": "{type: string}", "integer": "{type: integer}", "duration": "{type: duration}", "size": "{type: size}", "boolean": "{type: boolean}",
		"path": "{type: path}", "host": "{type: host}", "enum": `{type: enum, values: [a, b]}`,
	}
	data := map[string]string{}
	for name, parameter := range types {
		data[name] = fmt.Sprintf("{parameters: {value: %s}, text: 'if ($arg_x = {{ .value }}) { return 403; } add_header X-Named {{ .value }} always;'}", parameter)
	}
	library := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "sluice", Name: "snippets"}, Data: data}
	w := newWorker(t)
	w.options.NamedSnippets = snapshot.Name{Namespace: "sluice", Name: "snippets"}
	run := func(uses string) outcome {
		objects := withAnnotation(t, "sluice.io/snippets", uses)
		objects.ConfigMaps = append(slices.Clone(objects.ConfigMaps), library)
		return w.run(objects)
	}
	base := run("").tree(t)
	locations := own(base)
	before := beyond(base, locations)
	taken, refused := 0, 0
	for name := range types {
		for _, value := range slices.Concat(corpus, escapes, []string{"a", "1", "5s", "8k", "true", "/a", `$`, `$route`, `${route}`, `\`, `\\"`, `"`, `'`, `a"; } location / { return 200; } #`}) {
			quoted, _ := json.Marshal(value)
			uses := []string{name + " value=" + string(quoted)}
			if name == "string" {
				uses = append(uses, name+" value="+value, value)
			}
			for _, use := range uses {
				o := run(use)
				list := readable(t, use, o)
				if diff := cmp.Diff(before, beyond(list, locations)); diff != "" {
					t.Fatalf("%s: what is beyond changed:\n%s", named(use), diff)
				}
				if slices.ContainsFunc(o.about("Ingress default/rich", ""), func(p model.Problem) bool { return p.Denies }) {
					refused++
					shut(t, use, list, locations)
					continue
				}
				taken++
				eachLocation(list, func(key string, location *directive) {
					for _, d := range location.body {
						if d.name == "add_header" && d.args[0] == "X-Named" && (len(d.args) != 3 || d.args[2] != "always") {
							t.Errorf("%s: add_header %q", named(use), d.args)
						}
					}
				})
			}
		}
	}
	if taken < 50 || refused < 1000 {
		t.Errorf("%d uses were taken and %d refused: the list does not try both", taken, refused)
	}
}

// A snippet for a server stays in the servers of its hosts, and one for streams at the
// stream level, whatever they say.
func TestServerAndStreamSnippetsStayInTheirLevel(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	top := func(list []*directive) []string {
		var names []string
		for _, d := range list {
			names = append(names, d.name)
			if d.name == "http" {
				for _, server := range find(d.body, "server") {
					names = append(names, fmt.Sprintf("server %q", argument(server.body, "server_name")))
				}
			}
		}
		return names
	}
	for _, key := range []string{"server-snippet", "stream-snippet"} {
		before := top(readable(t, "", w.run(withAnnotation(t, prefix+key, "# nothing"))))
		taken, refused := 0, 0
		for _, snippet := range snippets() {
			o := w.run(withAnnotation(t, prefix+key, snippet))
			list := readable(t, snippet, o)
			if diff := cmp.Diff(before, top(list)); diff != "" && key == "server-snippet" {
				t.Errorf("%s %s: what is beyond changed:\n%s", key, named(snippet), diff)
			}
			if len(o.about("Ingress default/rich", prefix+key)) > 0 {
				refused++
			} else {
				taken++
			}
		}
		if taken == 0 || refused < 300 {
			t.Errorf("%s: %d snippets were taken and %d refused", key, taken, refused)
		}
	}
}

// The control socket of nginx, at which all backends are set, by the directive pass of the
// stream level, and by the value of a map.
func TestStreamSnippetsReachNoSocket(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	for _, snippet := range []string{
		"server { listen 9000; pass unix:/state/run/control.sock; }", "server { listen 9000; pass \"UNIX:/state/run/control.sock\"; }",
		"map $remote_addr $to { default \"unix:/state/run/control.sock\"; } server { listen 9000; pass $to; }",
		"map $remote_addr $to { default \"unix:/state/run/control.sock\"; }", "server { listen 9000; pass $arg; }", "server { listen 9000; pass sluice; }",
		"upstream a { server unix:/state/run/control.sock; } server { listen 9000; pass a; }",
	} {
		o := w.run(withAnnotation(t, prefix+"stream-snippet", snippet))
		if len(o.about("Ingress default/rich", prefix+"stream-snippet")) == 0 || bytes.Contains(o.file.Bytes(), []byte("listen 9000")) || bytes.Contains(o.file.Bytes(), []byte("state/run/control.sock\"")) {
			t.Errorf("%s is taken", snippet)
		}
	}
}

// The protection of other Ingresses of the host, which directives beside locations lift; and
// how nginx reads the header of each request, by the server of requests without a host.
func TestServerSnippetsLiftNoProtection(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	for _, snippet := range []string{
		"error_page 401 403 =200 @lifted; location @lifted { return 200; }", "proxy_set_header X-Real-IP $arg_lifted;", "proxy_set_header ssl-client-verify lifted;",
		"limit_req_dry_run on; # lifted", "limit_conn_dry_run on; # lifted", "if ($arg_lifted) { satisfy any; }", "allow all; # lifted", "more_set_input_headers 'Authorization: lifted';",
		"underscores_in_headers on; # lifted", "ignore_invalid_headers off; # lifted", "large_client_header_buffers 1 512; # lifted", "client_header_buffer_size 256; # lifted",
	} {
		objects := withAnnotation(t, prefix+"server-snippet", snippet)
		for _, ing := range objects.Ingresses {
			if ing.Name == "rich" {
				objects.Ingresses = append(objects.Ingresses, guestOf(ing))
			}
		}
		o := w.run(objects)
		if len(o.about("Ingress default/rich", prefix+"server-snippet")) == 0 || bytes.Contains(o.file.Bytes(), []byte("lifted")) {
			t.Errorf("%s is taken", snippet)
		}
	}
}

// guestOf returns an older Ingress of another namespace on the hosts of an Ingress, which would
// inherit its server snippet.
func guestOf(ing *networkingv1.Ingress) *networkingv1.Ingress {
	guest := ing.DeepCopy()
	guest.Namespace, guest.Name, guest.Annotations, guest.Spec.TLS, guest.Spec.DefaultBackend = "elsewhere", "guest", nil, nil, nil
	guest.CreationTimestamp = metav1.NewTime(ing.CreationTimestamp.Add(-time.Hour))
	for i := range guest.Spec.Rules {
		if http := guest.Spec.Rules[i].HTTP; http != nil && len(http.Paths) > 0 {
			http.Paths = http.Paths[:1]
			http.Paths[0].Path = "/guest"
		}
	}
	return guest
}

// An internal redirect to the paths of another Ingress keeps the address of the client.
func TestSnippetsDecideForNoClient(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	for key, snippet := range map[string]string{
		"configuration-snippet": "set_real_ip_from 0.0.0.0/0; real_ip_header X-Lifted;",
		"server-snippet":        "location /lifted { set_real_ip_from 0.0.0.0/0; real_ip_header X-Lifted; try_files /none /specific; }",
		"auth-snippet":          "real_ip_header X-Lifted;",
	} {
		objects := withAnnotation(t, prefix+key, snippet)
		for _, ing := range objects.Ingresses {
			if ing.Name == "rich" {
				ing.Annotations[prefix+"auth-url"] = "http://auth.example/"
			}
		}
		o := w.run(objects)
		if len(o.about("Ingress default/rich", prefix+key)) == 0 || bytes.Contains(bytes.ToLower(o.file.Bytes()), []byte("lifted")) {
			t.Errorf("%s: %s is taken", key, snippet)
		}
	}
}

// A server of another namespace, and the server of requests without a host.
func TestServerSnippetsOfOthers(t *testing.T) {
	t.Parallel()
	w := newWorker(t)
	for _, host := range []string{"shop.example", ""} {
		objects := withData(sharedWorld(t), snippetsAllowed)
		objects.Ingresses = slices.Clone(objects.Ingresses)
		for _, ing := range objects.Ingresses {
			if ing.Name == "rich" {
				other := ing.DeepCopy()
				other.Name, other.UID, other.Annotations = "guest", "guest", map[string]string{prefix + "server-snippet": "add_header X-Reaches others;"}
				if host != "" {
					other.Namespace = "stranger"
				}
				other.CreationTimestamp = metav1.NewTime(ing.CreationTimestamp.AddDate(1, 0, 0))
				other.Spec.TLS, other.Spec.DefaultBackend = nil, nil
				other.Spec.Rules = other.Spec.Rules[:1]
				other.Spec.Rules[0].Host = host
				objects.Ingresses = append(objects.Ingresses, other)
			}
		}
		o := w.run(objects)
		if bytes.Contains(o.file.Bytes(), []byte("X-Reaches")) {
			t.Errorf("a snippet reaches others by the host %q", host)
		}
	}
}
