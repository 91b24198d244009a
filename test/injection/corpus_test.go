package injection

import (
	"fmt"
	"strings"
	"testing"
)

// marker is a directive that no template writes: where it turns up as one, a
// value has become configuration.
const (
	marker   = "sluice_injected_marker"
	injected = marker + " on;"
)

// characters mean something to nginx, to YAML, to a terminal or to a parser of
// URLs.
var characters = []string{
	`"`, `'`, "`", `\"`, `\\"`, `\'`, "{", "}", "{}", ";", "#", "$", "${", "${x}", "$x", "$host", "$1", "$10", "$request_id", "$$", "$(id)", "%", "%s",
	"\n", "\r", "\r\n", "\u0085", "\u2028", "\u2029", "%0a", "%0d%0a", "%00", "%2f", "%2e%2e%2f", "%252e", "%zz", "%22", "%7b%7d", `\n`, `\\n`, `\r`, `\t`, `\x0a`, `\u000a`,
	"\x00", "\t", "\v", "\f", "\x1b[31m", "\x7f", `\`, `\\`, `\\\`, `a\`, `a\\`,
	"\xff\xfe", "\xc3(", "\xed\xa0\x80", "\ufeff", "\u202e", "\u200f", "\u200b", "\u2066", "é", "\U0001F600",
	"~", "~*", "=", "^~", "@name", "*", "*.", ".", "..", "-", "_", "<", ">", "&", "|", "!", "?", "/", "//", "/./", "/../", "[", "]", "(", ")", "(*UTF)", "(?", "[[:alpha:]]",
	"default", "include", "hostnames", "volatile", "on", "off", "null", "true", "~", "0", "-1", "1e9", "0x7f.1", "127.1", "::1%eth0", "0.0.0.0/0", "all", "{{ . }}", "{{ template \"lua\" . }}",
	"", " ", "  \t ", "a b", " a ", "a,b", "a;b", "a#b", "a$b", "a{b}",
}

// attacks are directives in every wrapping that has once got out of a value, and
// the payloads of the known vulnerabilities of ingress-nginx and its peers.
var attacks = []string{
	injected,
	"x; " + injected,
	"x;\n" + injected,
	"x;\r" + injected,
	"x;\r\n" + injected + "\r\n#",
	"x;\u0085" + injected,
	"x;\u2028" + injected,
	"x%0a" + injected,
	`x;\n` + injected,
	`x;\\n` + injected,
	"x\n" + injected,
	"#\n" + injected,
	"x #\n" + injected,
	`"; ` + injected + ` "`,
	`\"; ` + injected + ` \"`,
	`\\"; ` + injected + ` \\"`,
	`\\\"; ` + injected,
	`'; ` + injected + ` '`,
	"`; " + injected,
	`" always; ` + injected + ` #`,
	`") { } ` + injected + ` if ($host ~ "`,
	"} " + injected + " {",
	`"} ` + injected + ` location "/y" {`,
	"/x { } } " + injected + " server { location /y {",
	"x\x00; " + injected,
	"x\xff\"; " + injected,
	"${" + injected + "}",
	`${x"; ` + injected,
	`$host"; ` + injected,
	"$; " + injected,
	"x\t; " + injected,
	"x\v; " + injected,
	"\ufeff" + injected,
	"{{ \"" + injected + "\" }}",

	"/x {\n\talias /etc/;\n\tautoindex on;\n}\nlocation /y", // CVE-2021-25745
	"/x/..;/../etc/passwd",
	"include /etc/passwd;",
	"/x\n{ log_format x escape=none '" + injected + "'; }", // CVE-2022-4886
	"http://x/; root /; " + injected,                       // CVE-2023-5044
	"CN=abc #(\n){}\n }}\n" + injected + "\nssl_engine ../../../../../../proc/1/fd/3;\n", // CVE-2025-1097, CVE-2025-1974
	"http://x/#;}\n}\n}\n" + injected,         // CVE-2025-24514
	"../../../../etc/passwd",                  // CVE-2025-24513
	"GET;\n" + injected,                       // CVE-2026-1580
	`/x" { } ` + injected + ` location "/y`,   // CVE-2026-24512
	`/$1" break; ` + injected + ` rewrite "x`, // CVE-2026-3288
	"/x\n" + injected + " #",                  // CVE-2026-4342
	"/$1?x=$2",                                // CVE-2026-42945
	"other/neighbour", "other/neighbour/side/80",
	"/(?<route>other/neighbour/side/80)",
	"/(?<p_x>a)(?'route'b)(?P<namespace>c)",
	"/a(b", "/[a", "/(?#)x", `/\Qa`, "/(?(DEFINE)x)", "/(a+)+$", "/(?R)", "/(*ACCEPT)",
	"content_by_lua_block { os.execute('id') }",
	"x; content_by_lua_block { os.execute('id') }",
	"x; proxy_pass http://169.254.169.254/; #",
	"load_module /tmp/x.so;",
	"return 200 x;", "unix:/run/control.sock", "http://unix:/run/control.sock:/push",
}

// lengths are around the size of nginx's buffer for tokens.
var lengths = []int{253, 254, 3999, 4000, 4095, 4096, 5000, 100_000}

// corpus is every hostile value.
var corpus = func() []string {
	list := append(append([]string(nil), characters...), attacks...)
	for _, n := range lengths {
		list = append(list, strings.Repeat("a", n))
	}
	list = append(list, strings.Repeat(`\`, 2001), strings.Repeat(`"`, 2000), strings.Repeat("a.", 2000)+"a", strings.Repeat("$host", 900), strings.Repeat("é", 2001), strings.Repeat("\x00", 2000))
	return unique(list)
}()

// paths is every hostile value as a path, besides as it is.
var paths = func() []string {
	list := append([]string(nil), corpus...)
	for _, value := range corpus {
		list = append(list, "/"+strings.TrimPrefix(value, "/"))
	}
	return unique(list)
}()

func unique(list []string) []string {
	var kept []string
	seen := map[string]bool{}
	for _, value := range list {
		if !seen[value] {
			seen[value] = true
			kept = append(kept, value)
		}
	}
	return kept
}

// named gives a value for a message.
func named(value string) string {
	if len(value) > 90 {
		return fmt.Sprintf("%+.90q... (%d bytes)", value, len(value))
	}
	return fmt.Sprintf("%+q", value)
}

func TestCorpusIsHostile(t *testing.T) {
	t.Parallel()
	want := []string{"\n", "\r\n", "\x00", `"`, "'", "{", "}", ";", "#", "$", `\`, "\xff\xfe", "\ufeff", "\u2028", ""}
	have := map[string]bool{}
	carriers := 0
	for _, value := range corpus {
		have[value] = true
		if strings.Contains(value, injected) {
			carriers++
		}
	}
	for _, value := range want {
		if !have[value] {
			t.Errorf("the corpus lacks %q", value)
		}
	}
	if carriers < 40 {
		t.Errorf("only %d values carry a directive", carriers)
	}
}
