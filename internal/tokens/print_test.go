package tokens

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/keys"
	"sluice/internal/pcre"
	"sluice/internal/syntax"
)

func TestPrintersPrint(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		printer string
		value   any
		want    string
	}{
		{"word", "TLSv1.2", "TLSv1.2"},
		{"word", 8080, "8080"},
		{"word", keys.Optional[int]("3"), "3"},
		{"word", "[::]:8080", "[::]:8080"},
		{"part", "10m", "10m"},
		{"host", "shop.example", "shop.example"},
		{"host", "*.shop.example", "*.shop.example"},
		{"alias", "*.shop.example", "*.shop.example"},
		{"alias", "shop.*", "shop.*"},
		{"alias", `~^a\d+\.shop$`, `"~^a\\d+\\.shop$"`},
		{"onelabel", "*.a-1.example", `"~^[^.]+\\.a-1\\.example$"`},
		{"str", `a "b" \c`, `"a \"b\" \\c"`},
		{"str", "", `""`},
		{"literal", "/$x {;}#'", `"/$x {;}#'"`},
		{"literal", "/käse", `"/käse"`},
		{"regex", `^/a\d+\.(x|y)$`, `"^/a\\d+\\.(x|y)$"`},
		{"header", "/$host/${host}/$arg_x", `"/$host/${host}/$arg_x"`},
		{"logformat", "$status ${location_path}", `"$status ${location_path}"`},
		{"jsonformat", "$status ${logs_utf8_uri}", `"$status ${logs_utf8_uri}"`},
		{"jsonformat", "$opentelemetry_trace_id $logs_utf8_auth_cookie", `"$opentelemetry_trace_id $logs_utf8_auth_cookie"`},
		{"verbatim", `/a$b"\${host}`, `"/a${literal_dollar}b\"\\${literal_dollar}{host}"`},
		{"verbatim", "", `""`},
		{"header", "$http_x.${host}", `"$http_x.${host}"`},
		{"url", "$scheme://a${request_path}$uri/${uri}x$is_args$args", `"$scheme://a${request_path}${request_path}/${request_path}x$is_args$args"`},
		{"target", "/$1/${host}/$p_name/$arg_x", `"/$1/${host}/$p_name/$arg_x"`},
		{"target", "/$10", `"/$10"`},
		{"mapkey", "a", `"a"`},
		{"mapkey", "~a", `"\\~a"`},
		{"mapkey", "default", `"\\default"`},
		{"mapkey", "include", `"\\include"`},
		{"mapkey", `\a`, `"\\\\a"`},
		{"variable", "http_x_0a", "$http_x_0a"},
		{"variable", "$host", "$host"},
		{"size", keys.Size("8k"), "8k"},
		{"size", 0, "0"},
		{"duration", 60, "60s"},
		{"duration", "1h30m", "1h30m"},
		{"duration", "500ms", "500ms"},
		{"duration", "1d2h3m4s5ms", "1d2h3m4s5ms"},
		{"duration", "500ms", "500ms"},
		{"duration", keys.Duration("240s"), "240s"},
		{"duration", 90 * time.Second, "90s"},
		{"duration", 1500 * time.Millisecond, "1500ms"},
		{"path", "/var/lib/sluice/a.pem", "/var/lib/sluice/a.pem"},
		{"path", "/srv/a b/x", `"/srv/a b/x"`},
		{"onoff", true, "on"},
		{"onoff", false, "off"},
	} {
		got, err := Printers()[c.printer](c.value)
		if err != nil || got != c.want {
			t.Errorf("%s %#v: got %s, %v; want %s", c.printer, c.value, got, err, c.want)
		}
	}
}

// A behaviour names variables that begin with its own name, besides the known ones.
func TestOwnVariables(t *testing.T) {
	t.Parallel()
	own := VariablesOf("two-words")
	for name, want := range map[string]string{"two_words_a": "$two_words_a", "host": "$host", "cors_a": "", "two_wordsa": "", "two_words_a;": "", "two_words_a b": "", "arrived_port": "$arrived_port"} {
		if got, err := PrintOwnVariable(own, name); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}

func TestPrintersRefuse(t *testing.T) {
	t.Parallel()
	cases := map[string][]any{
		"word":     {"", "a b", "a;", "a{", "a}", "a#", "a$b", `a"`, "a'", `a\`, "a\n", "ä", true, []string{"a"}, nil},
		"part":     {"", "(", "=", "[", "a b"},
		"onelabel": {"", "*.", "a", "a.example", "*.*.a", "*.a\"", "*.(a)"},
		"host":     {"", "*.", ".a", "a.", "a..b", "~a", "A.b", "*a", "a.*", "$hostname", strings.Repeat("a", 254)},
		"alias":    {"", "~", "*.a.*", "a b", "a;", ".*", "$hostname", "~(?<route>a)", "~(?P<route>a)", "~(?'route'a)"},
		"regex":    {"", keys.Size("")},
		"bounded":  {"", true},
		"target":   {"$", "/$namespace/$1", "${redirect_uri}", "$unknown"},
		"header":   {"$uri", "/x${document_uri}", "$remote_user", "$request_body", "$ssl_server_name", "$1", "$p_x", "$", "a$", "$unknown", "${1}", "${host", "${}", "$secret_thing", "$arg_", "$p_", "$cors_x", "$location_path", "$literal_dollar"},
		"url":      {"/x${document_uri}", "$remote_user", "$uri_x", "$1", "$", "${uri", "$unknown"},
		"variable": {"", "$", "nope", "host name", "cors-x", "1a"},
		"size":     {"", "k", "8kk", "-1", "8x", "8.5k", "99999999999", "8k\n"},
		"duration": {"", "x", "1x", "-1", -1 * time.Second, "1m1h", "1.5s", "+5", "99999999999", "1s\n", "1m1m"},
		"path":     {"", "a", "/a/../b", "/..", "/a$b"},
		"onoff":    {"on", 1, nil},
		"str":      {"$", "a$b"},
		"lines":    {"A: b", []string{}, []string{"A: b\r\nC: d"}, []string{"A: b", "C: d\n"}, []string{`A: b\r\nC: d`}, []string{`A: "`}},
	}
	cases["jsonformat"] = []any{"$", "$1", "$logs_utf8_the_real_ip", "$logs_utf8_logs_utf8_uri"}
	cases["logformat"] = []any{"$", "$1", "$the_real_ip", "${location_path", "$literal_dollar"}
	for _, quoting := range []string{"str", "literal", "regex", "bounded", "logformat", "jsonformat", "verbatim", "header", "url", "target", "mapkey", "alias"} {
		cases[quoting] = append(cases[quoting], "a\nb", "a\rb", "a\x00b", "a\tb", "a\x7fb", "a\u0085b", "\xff", strings.Repeat("a", 4001), strings.Repeat(`"`, 2001))
	}
	for name, values := range cases {
		for _, value := range values {
			got, err := Printers()[name](value)
			var refusal *Refusal
			if got != "" || !errors.As(err, &refusal) {
				t.Errorf("%s %q: got %s, %v; want a refusal", name, value, got, err)
			}
		}
	}
}

func TestRefusalSaysWhatIsWanted(t *testing.T) {
	t.Parallel()
	_, err := printStr("a\nb")
	want := `want text without line ends and other control characters (got "a\nb")`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	_, err = PrintWord(strings.Repeat("é", 1000))
	if err == nil || len(err.Error()) > 400 {
		t.Errorf("a long value is not shortened: %v", err)
	}
}

// tokensOf returns the values of the tokens of a directive; false unless the text is
// exactly one directive.
func tokensOf(text string) ([]string, bool) {
	var lex syntax.Lexer
	var tokens []string
	first := 0
	for i := range len(text) {
		event := lex.Step(text[i])
		if event&syntax.Begin != 0 {
			first = i
		}
		if event&syntax.End != 0 {
			tokens = append(tokens, syntax.TokenValue([]byte(text[first:i])))
		}
		if event&(syntax.Open|syntax.Shut|syntax.Wrong) != 0 || event&syntax.Semicolon != 0 && i != len(text)-1 {
			return tokens, false
		}
	}
	return tokens, lex.Mode == syntax.Blank && strings.HasSuffix(text, ";")
}

// FuzzPrinters checks that an accepted value becomes exactly one token with that value.
func FuzzPrinters(f *testing.F) {
	for _, seed := range []string{"", "a", "a b", `"`, `\`, "$", "${", "$1", "a;b", "{", "}", "#", "'", "~a", "default", "\\n", "\n", "\r", "\x00", "\xff", "/a/b", "8k", "10s", ")", "a)", "*.a"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for name, print := range Printers() {
			token, err := print(s)
			if err != nil {
				continue
			}
			for _, format := range []string{"d %s;", "d %s x;", "d x %s ;"} {
				text := fmt.Sprintf(format, token)
				tokens, one := tokensOf(text)
				if want := strings.Count(format, " ") + 1 - strings.Count(format, " ;"); !one || len(tokens) != want {
					t.Fatalf("%s %q prints %s: tokens %q", name, s, text, tokens)
				}
				at := 1
				if strings.HasPrefix(format, "d x") {
					at = 2
				}
				if got := tokens[at]; got != valueOf(name, s) {
					t.Fatalf("%s %q prints %s, which means %q", name, s, token, got)
				}
			}
		}
	})
}

// valueOf is the value that nginx must read for an accepted input.
func valueOf(printer, s string) string {
	switch {
	case printer == "mapkey" && mapSpecial(s):
		return `\` + s // The map module takes it off.
	case printer == "verbatim":
		return strings.ReplaceAll(s, "$", "${literal_dollar}")
	case printer == "variable":
		return "$" + strings.TrimPrefix(s, "$")
	case printer == "bounded":
		l := LimitPattern(s, pcre.NameSteps)
		return l.before + s + l.after
	case printer == "onelabel":
		return "~" + LabelPattern(s)
	case printer == "duration" && strings.Trim(s, "0123456789") == "":
		return s + "s"
	}
	return s
}

// FuzzQuote checks that tokens are read the same after quoting.
func FuzzQuote(f *testing.F) {
	for _, seed := range []string{"", "a b;", `a "b\"" 'c';`, "a{b;}", "}", "a}", "${", "$", "\\", "a\\", "\"", "# x", "a \"b\"c", "a \"b\")c;", "map $a $b { default x; ~y z; }"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tokens, one := tokensOf(text)
		if !one || len(tokens) == 0 {
			return
		}
		var again strings.Builder
		for _, token := range tokens {
			quoted, err := quote(token)
			if err != nil {
				return // Longer than a token may be, or with control characters.
			}
			again.WriteString(quoted + " ")
		}
		got, one := tokensOf(again.String() + ";")
		if diff := cmp.Diff(tokens, got); diff != "" || !one {
			t.Fatalf("%q read again: %s", text, diff)
		}
	})
}

// TestRefusalOfJSONFormatNamesTheVariable: its author wrote no logs_utf8_.
func TestRefusalOfJSONFormatNamesTheVariable(t *testing.T) {
	t.Parallel()
	_, err := printJSONFormat("$logs_utf8_the_real_ip")
	if err == nil || !strings.HasSuffix(err.Error(), `(got "$the_real_ip")`) {
		t.Error(err)
	}
}
