package decode

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDocuments(t *testing.T) {
	t.Parallel()
	type doc struct {
		Line int
		Text string
	}
	cases := map[string]struct {
		in   string
		want []doc
	}{
		"nothing":                        {"", nil},
		"only comments":                  {"# a\n---\n# b\n--- # c\n", nil},
		"one":                            {"a: b", []doc{{1, "a: b"}}},
		"two":                            {"a: b\n---\nc: d\n", []doc{{1, "a: b\n"}, {3, "c: d\n"}}},
		"marker first":                   {"---\na: b\n", []doc{{2, "a: b\n"}}},
		"marker with spaces":             {"---  \t\na: b\n--- \nc: d\n", []doc{{2, "a: b\n"}, {4, "c: d\n"}}},
		"marker with a comment":          {"--- # x\na: b\n", []doc{{2, "a: b\n"}}},
		"content on the marker's line":   {"a: b\n--- {c: d}\n", []doc{{1, "a: b\n"}, {2, "--- {c: d}\n"}}},
		"CRLF":                           {"a: b\r\n---\r\nc: d\r\n", []doc{{1, "a: b\n"}, {3, "c: d\n"}}},
		"CR alone":                       {"a: b\r---\rc: d\r", []doc{{1, "a: b\n"}, {3, "c: d\n"}}},
		"byte order mark":                {"\ufeff---\na: b\n", []doc{{2, "a: b\n"}}},
		"an empty document between":      {"a: b\n---\n\n---\nc: d\n", []doc{{1, "a: b\n"}, {5, "c: d\n"}}},
		"a comment before is content's":  {"# licence\n\na: b\n", []doc{{1, "# licence\n\na: b\n"}}},
		"indented marker in a scalar":    {"a: |\n  ---\n  x\n", []doc{{1, "a: |\n  ---\n  x\n"}}},
		"longer than a marker":           {"a: b\n----\n-----BEGIN X-----\n---x\n", []doc{{1, "a: b\n----\n-----BEGIN X-----\n---x\n"}}},
		"end marker":                     {"a: b\n...\nc: d\n", []doc{{1, "a: b\n"}, {3, "c: d\n"}}},
		"end marker and marker":          {"a: b\n...\n---\nc: d\n", []doc{{1, "a: b\n"}, {4, "c: d\n"}}},
		"directive":                      {"%YAML 1.1\n---\na: b\n---\nc: d\n", []doc{{1, "%YAML 1.1\n---\na: b\n"}, {5, "c: d\n"}}},
		"directive for an empty one":     {"%YAML 1.1\n---\n---\nc: d\n", []doc{{4, "c: d\n"}}},
		"marker as the last line":        {"a: b\n---", []doc{{1, "a: b\n"}}},
		"comment with a marker's dashes": {"a: b\n#---\nc: d\n", []doc{{1, "a: b\n#---\nc: d\n"}}},
		"a stream of JSON":               {"{\"a\":1}\n{\n\"b\": {}\n}\n\n{}", []doc{{1, "{\"a\":1}"}, {1, "\n{\n\"b\": {}\n}"}, {4, "\n\n{}"}}},
		"a stream of JSON on one line":   {"# a\n---\n{}{} {}\n---\nc: d\n", []doc{{3, "{}"}, {3, "{}"}, {3, " {}\n"}, {5, "c: d\n"}}},
		"a stream that breaks off":       {"{}\n{\"a\":\n", []doc{{1, "{}"}, {1, "\n{\"a\":\n"}}},
		"JSON and something else":        {"{}\n{}\nc: d\n", []doc{{1, "{}"}, {1, "\n{}\nc: d\n"}}},
		"a broken one between":           {"{\"a\":1}\n{\"b\":,}\n{\"c\":3}\n{\"d\":4}\n", []doc{{1, "{\"a\":1}"}, {1, "\n{\"b\":,}\n"}, {3, "{\"c\":3}"}, {3, "\n{\"d\":4}\n"}}},
		"a broken one first":             {"{\"a\":\"x\n}\n{\"b\":2}\n", []doc{{1, "{\"a\":\"x\n}\n"}, {3, "{\"b\":2}\n"}}},
		"a brace too few":                {"{\"a\":{\n}\n{\"b\":2}", []doc{{1, "{\"a\":{\n}\n"}, {3, "{\"b\":2}"}}},
		"parts of a broken one":          {"{\"items\":,[\n{\"a\":1},\n{\"b\":2}\n]}\n{\"c\":3}", []doc{{1, "{\"items\":,[\n{\"a\":1},\n{\"b\":2}\n]}\n"}, {5, "{\"c\":3}"}}},
		"JSON within YAML":               {"{a: '\n{\"b\":2}\n{\"c\":3}\n'}\n", []doc{{1, "{a: '\n{\"b\":2}\n{\"c\":3}\n'}\n"}}},
		"no JSON":                        {"{a: b}\n{c: d}\n", []doc{{1, "{a: b}\n{c: d}\n"}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []doc
			for i, d := range documents([]byte(c.in)) {
				if d.number != i+1 {
					t.Errorf("document %d has number %d", i+1, d.number)
				}
				got = append(got, doc{d.line, string(d.text)})
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("documents (-want +got):\n%s", diff)
			}
		})
	}
}

// moreText is what is said of a text that goes on after its object.
const moreText = `want "---" on a line between two objects (got more text after the first)`

func TestToJSON(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ in, want, fails string }{
		"order and repetitions stay": {in: "b: 1\na: 2\nb: 3", want: `{"b":1,"a":2,"b":3}`},
		"kinds of values":            {in: "a: [x, 1, 1.5, true, ~, 18446744073709551615]", want: `{"a":["x",1,1.5,true,null,18446744073709551615]}`},
		"YAML 1.1 booleans":          {in: "a: on\nb: 'on'", want: `{"a":true,"b":"on"}`},
		"a date is text":             {in: "a: 2026-01-02", want: `{"a":"2026-01-02"}`},
		"keys become text":           {in: "80: a\ntrue: b", want: `{"80":"a","true":"b"}`},
		"escapes":                    {in: `a: "\x01\n\t\"\\\u2028é"`, want: `{"a":"\u0001\n\t\"\\\u2028é"}`},
		"merged keys":                {in: "a: &x {b: 1}\nc: {<<: *x}", want: ""},
		"empty":                      {in: "~", want: ""},
		"JSON as it is":              {in: `{"a": 1e2}`, want: `{"a": 1e2}`},
		"a flow mapping is no JSON":  {in: `{a: b}`, want: `{"a":"b"}`},
		"a key that is null":         {in: "~: a", fails: "want keys that are text (got nothing): put them in quotes"},
		"a key that is a list":       {in: "[a]: b", fails: "want keys that are text (got a list): put them in quotes"},
		"infinite":                   {in: "a: .inf", fails: "want a number (got one that is infinite or none at all)"},
		"a list":                     {in: "- a", fails: errList.Error()},
		"a list in JSON":             {in: "[{\"a\": 1}]", fails: errList.Error()},
		"a list of keys and values":  {in: "- {key: kind, value: Ingress}", fails: errList.Error()},
		"an empty list":              {in: "[]", fails: errList.Error()},
		"a list where merged":        {in: "- {<<: {a: b}}", fails: errList.Error()},
		"text":                       {in: "some secret text", fails: errNotObject.Error()},
		"not UTF-8":                  {in: "a: \xff", fails: "want UTF-8 text (got bytes that are not UTF-8)"},
		"binary that is not UTF-8":   {in: "a: !!binary /w==", fails: "want UTF-8 text (got !!binary bytes that are not UTF-8)"},
		"a tag of a time":            {in: "a: !!timestamp 2026-01-02", want: `{"a":"2026-01-02"}`},
		"syntax":                     {in: "a: b\nc: [d", fails: "want YAML: near line 11: did not find expected ',' or ']'"},
		"syntax in the first line":   {in: "a: b: c", fails: "want YAML: near line 10: mapping values are not allowed in this context"},
		"a hidden document":          {in: "a: b\u2028--- \u2028c: d", fails: `want a line feed before "---" (got another kind of line break)`},
		"YAML after JSON":            {in: "{\"a\": 1}\na: 2", fails: moreText},
		"text after JSON":            {in: "{\"a\": 1} trailing garbage", fails: moreText},
		"two flow mappings":          {in: "{a: b}\n{c: d}", fails: moreText},
		"two after a comment":        {in: "# a\n{}\n{}", fails: moreText},
		"less indented than before":  {in: "  a: b\nc: d", fails: moreText},
		"more where merged":          {in: "{<<: {a: b}}\nc: d", fails: moreText},
		"a comment after JSON":       {in: "{\"a\": 1} # b\n# c\n", want: `{"a":1}`},
		"repeated where merged":      {in: "a: 1\na: 2\n'<<': 3", fails: `line 11: want key "a" once (got it again)`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := toJSON(document{number: 1, line: 10, text: []byte(c.in)})
			switch {
			case c.fails != "" && (err == nil || err.Error() != c.fails):
				t.Errorf("error: want %q, got %v", c.fails, err)
			case c.fails == "" && err != nil:
				t.Errorf("error: %v", err)
			case c.want != "" && string(got) != c.want:
				t.Errorf("want %s, got %s", c.want, got)
			case c.want == "" && c.fails == "" && name == "empty" && got != nil:
				t.Errorf("want nothing, got %s", got)
			}
		})
	}
}

// A few hundred bytes of aliases that stand for gigabytes are refused, and
// quickly.
func TestAliasesDoNotMultiply(t *testing.T) {
	t.Parallel()
	text := "a: &a " + strings.Repeat("x", 100_000) + "\nb: &b [" + strings.Repeat("*a,", 1000) + "]\nc: [" + strings.Repeat("*b,", 300) + "]"
	out, err := toJSON(document{number: 1, line: 1, text: []byte(text)})
	if err == nil {
		t.Errorf("got %d bytes of JSON and no error", len(out))
	}
}
