package injection

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"

	"sluice/test/kit"
)

// namesOf gives the names of a server.
func namesOf(server *directive) []string {
	var names []string
	for _, d := range find(server.body, "server_name") {
		names = append(names, d.args...)
	}
	return names
}

// namedServers gives the servers with names, in the order of the file.
func namedServers(list []*directive) []*directive {
	var servers []*directive
	for _, http := range find(list, "http") {
		for _, server := range find(http.body, "server") {
			if len(namesOf(server)) > 0 {
				servers = append(servers, server)
			}
		}
	}
	return servers
}

// choose gives the server that nginx takes for a host: by the precise name, else
// by the longest wildcard at the beginning, else by the longest at the end, else by
// the first pattern of the file. It is nil if none of them fits.
// Source: ngx_http_find_virtual_server in nginx's src/http/ngx_http_request.c.
func choose(list []*directive, host string) *directive {
	var chosen *directive
	best := 0
	for _, server := range namedServers(list) {
		for _, name := range namesOf(server) {
			if score := fits(name, host); score > best {
				chosen, best = server, score
			}
		}
	}
	return chosen
}

// The least scores of the ways in which a name fits; the length of a wildcard is
// added.
const (
	patternFits  = 1
	tailFits     = 1000
	wildcardFits = 10_000
	preciseFits  = 100_000
)

func fits(name, host string) int {
	pattern, isPattern := strings.CutPrefix(name, "~")
	switch {
	case name == host:
		return preciseFits
	case isPattern && matched(pattern, host):
		return patternFits
	case isPattern:
	case strings.HasPrefix(name, "*.") && strings.HasSuffix(host, name[1:]):
		return wildcardFits + len(name)
	case strings.HasSuffix(name, ".*") && strings.HasPrefix(host, name[:len(name)-1]):
		return tailFits + len(name)
	}
	return 0
}

// matched says whether a pattern matches. One that Go does not have counts as one
// that matches everything, so that nobody can hide behind it.
func matched(pattern, host string) bool {
	compiled, err := regexp.Compile("(?i)" + pattern)
	return err != nil || compiled.MatchString(host)
}

// twice gives a name that two servers have, or "". nginx only warns of it, and the
// first server of the file has the name. Of patterns nginx keeps a list and takes
// the first that matches: what that leads to is what choose says.
func twice(list []*directive) string {
	seen := map[string]bool{}
	for _, server := range namedServers(list) {
		for _, name := range namesOf(server) {
			if name = strings.ToLower(name); seen[name] && name[0] != '~' {
				return name
			}
			seen[name] = true
		}
	}
	return ""
}

// neighbours are hosts of an Ingress of another namespace, of which the last is
// one of the names of a wildcard host.
var neighbours = []string{"neighbour.example", "any.zone.example"}

// takeovers are further names that try to be those of others, or to keep nginx from
// serving them.
var takeovers = []string{
	"neighbour.example", "NEIGHBOUR.example", "neighbour.example.", ".neighbour.example", "*.neighbour.example", "*.example", "*.EXAMPLE", ".example", "neighbour.*", "any.*", "any.zone.*", "*.zone.example", `~^[^.]+\.zone\.example$`, "~zone",
	"~.", "~^", "~^.*$", "~neighbour", "~^neighbour", `~^neighbour\.example$`, `~^[^.]+\.neighbour\.example$`, `~\.example$`, "~(?i)NEIGHBOUR", "x.test, neighbour.example", "~a, ~neighbour",
	"_", "_, __", "localhost", "127.0.0.1", "[::1]", "pattern.example", "*.wild.example", "a.wild.example", "*.*", "*.*.example", "*example", "exam*ple", "a.*.b", "..", "a..b", "-a.example", "$hostname",
	"~(*LIMIT_MATCH=0)(.*)*[?]", "~(*NO_JIT)(*LIMIT_HEAP=0)(.*)*[?&]", "~(?:(?R)|[=&])[?+]", "~(a|(?1))b", "~(.+)+[?=&]", "~((a|b)|c)+", "~" + strings.Repeat(".*", 9) + "[?=&]", "~" + strings.Repeat("a?", 99),
	"~[z-a]", "~a{2,1}", "~(", "~)", "~[", "~*", "~a**", `~\`, "~" + strings.Repeat("(", 249) + strings.Repeat(")", 249), strings.Repeat("a.test,", 200), numbered(101),
}

// aliases are every hostile value as a further name and as a pattern, and takeovers.
var aliases = func() []string {
	list := append([]string(nil), corpus...)
	for _, value := range corpus {
		list = append(list, "~"+value)
	}
	return unique(append(list, takeovers...))
}()

// numbered gives many names.
func numbered(n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("n%d.test", i))
	}
	return strings.Join(list, ",")
}

func TestChoose(t *testing.T) {
	t.Parallel()
	list, _, err := parse([]byte(`http {
		server { server_name _; }
		server { server_name a.b.c *.b.c; }
		server { server_name ~^[^.]+\.p$ b.*; }
		server { server_name *.c x.b.* ~^q; }
		server { server_name ~.; }
		server { listen 1; }
	}`))
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]string{
		"a.b.c": "a.b.c", "x.b.c": "a.b.c", "x.y.b.c": "a.b.c", "x.c": "*.c", "b.x": "~^[^.]+\\.p$", "x.b.y": "*.c", "q.p": "~^[^.]+\\.p$", "q.q": "*.c", "z": "~.", "_": "_",
	} {
		if server := choose(list, host); server == nil || namesOf(server)[0] != want {
			t.Errorf("%s: got %v, want the server %s", host, server, want)
		}
	}
	if got := twice(list); got != "" {
		t.Errorf("the name %s is there once", got)
	}
	if again, _, _ := parse([]byte(`http { server { server_name a A; } }`)); twice(again) != "a" {
		t.Error("a name that is there twice is not found")
	}
}

// Further names take nothing that others have, and no pattern keeps nginx from
// reading the file or from answering, whether wildcard hosts are given to nginx as
// wildcards or as patterns.
func TestFurtherNamesTakeNothing(t *testing.T) {
	eachNginx(t, func(t *testing.T, installed kit.Nginx) {
		for _, everywhere := range []bool{false, true} {
			t.Run(fmt.Sprintf("with rules for all hosts: %t", everywhere), func(t *testing.T) {
				t.Parallel()
				objects := objectsOf(t, fronted)
				objects.Ingresses = []*networkingv1.Ingress{ingress(t, sharedWorld(t), "neighbour")}
				if everywhere {
					plain := ingress(t, worldObjects(t), "plain")
					plain.Annotations[prefix+"server-alias"] = "~^.+"
					plain.Spec.Rules = plain.Spec.Rules[1:]
					objects.Ingresses = append(objects.Ingresses, plain)
				}
				for i, alias := range takeovers {
					precise := simple(fmt.Sprintf("a%d", i), "/", map[string]string{"server-alias": alias})
					wildcard := simple(fmt.Sprintf("w%d", i), "/", map[string]string{"server-alias": alias})
					wildcard.Spec.Rules[0].Host = "*." + wildcard.Spec.Rules[0].Host
					objects.Ingresses = append(objects.Ingresses, precise, wildcard)
				}
				objects.Services = append(objects.Services, sharedWorld(t).Services...)
				objects.EndpointSlices = append(objects.EndpointSlices, objectsOf(t, sideSlice).EndpointSlices...)
				s := serving(t, installed, objects)
				for _, host := range neighbours {
					if got := s.ask(t, host, "/x"); got.backend != "other/side/80" {
						t.Errorf("%s is answered by %q with %d", host, got.backend, got.status)
					}
				}
				for _, host := range []string{"nobody.at.all.test", strings.Repeat("a", 63) + ".test", strings.Repeat("ab.", 80) + "test"} {
					s.ask(t, host, "/")
				}
			})
		}
	})
}
