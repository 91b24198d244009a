package keys

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

type sample struct {
	Word   string        `key:"word" alias:"old-word,older-word" default:"host" validate:"oneof=host path" risk:"medium" doc:"A word."`
	Any    string        `key:"any" from:"setting-any" needs:"flag" doc:"A text."`
	Flag   bool          `key:"flag" default:"true" empty:"zero" doc:"A switch."`
	Count  int           `key:"count" default:"5" validate:"min=1,max=10" doc:"A count."`
	Target string        `key:"target" validate:"rewrite_target" doc:"A target."`
	Secret string        `key:"secret" validate:"secret_ref" doc:"A Secret."`
	Name   string        `key:"name" validate:"server_name" doc:"A host."`
	Cipher string        `key:"cipher" validate:"ciphers" doc:"Ciphers."`
	Curve  string        `key:"curve" validate:"curves" doc:"Curves."`
	Proto  string        `key:"proto" validate:"oneofci=HTTP HTTPS" doc:"A protocol."`
	List   []string      `key:"list" validate:"dive,path_prefix" doc:"Paths."`
	Size   Size          `key:"size" default:"1m" doc:"A size."`
	Above  Size          `key:"above" default:"1k" validate:"ne=0" doc:"A size above zero."`
	Within Size          `key:"within" default:"32k" validate:"min=32768,max=1073741824" doc:"A size within bounds."`
	Bufs   Buffers       `key:"bufs" default:"4 8k" doc:"Buffers."`
	Number Optional[int] `key:"number" validate:"min=0,max=1000" doc:"A number."`
	Auto   Auto          `key:"auto" default:"auto" doc:"Workers."`
	Time   Duration      `key:"time" default:"1h" doc:"A time."`
	Wait   Duration      `key:"wait" default:"1h" validate:"min=1" doc:"A time above zero."`
	Nets   CIDRs         `key:"nets" empty:"invalid" protects:"true" doc:"Networks."`
	Trust  CIDRs         `key:"trust" default:"0.0.0.0/0" invalid:"zero" instead:"nobody is believed" doc:"Networks."`
	Origin Origins       `key:"origin" default:"*" doc:"Origins."`
	Header HeaderNames   `key:"header" doc:"Headers."`
	Names  ServerNames   `key:"names" doc:"Server names."`
	Method Methods       `key:"method" doc:"Methods."`
	Words  Words         `key:"words" validate:"dive,oneof=error timeout" doc:"Words."`
	Group  struct {
		Risk Risk `key:"risk" default:"High" doc:"A risk."`
	}
}

func decode(given map[string]string) (sample, []Fault) {
	var s sample
	lookup := func(key string) (string, bool) { v, ok := given[key]; return v, ok }
	faults := Decode(&s, lookup, func(key string) (string, bool) { return "from " + key, true })
	return s, faults
}

func defaultSample() sample {
	s := sample{
		Word: "host", Any: "from setting-any", Flag: true, Count: 5, Size: "1m", Above: "1k", Within: "32k",
		Bufs: Buffers{4, "8k"}, Time: "3600s", Wait: "3600s", Trust: CIDRs{"0.0.0.0/0"}, Origin: Origins{"*"},
	}
	s.Group.Risk = RiskHigh
	return s
}

func TestDecode(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		given map[string]string
		want  func(*sample)
	}{
		"nothing":                  {nil, func(*sample) {}},
		"empty is absent":          {map[string]string{"word": " ", "count": "", "size": ""}, func(*sample) {}},
		"empty is zero":            {map[string]string{"flag": ""}, func(s *sample) { s.Flag = false }},
		"trimmed":                  {map[string]string{"word": " path\n"}, func(s *sample) { s.Word = "path" }},
		"alias":                    {map[string]string{"older-word": "path"}, func(s *sample) { s.Word = "path" }},
		"alias for an empty key":   {map[string]string{"word": "", "old-word": "path"}, func(s *sample) { s.Word = "path" }},
		"the key before its alias": {map[string]string{"word": "host", "old-word": "path"}, func(*sample) {}},
		"written before from":      {map[string]string{"any": "x y"}, func(s *sample) { s.Any = "x y" }},
		"bool":                     {map[string]string{"flag": "F"}, func(s *sample) { s.Flag = false }},
		"protocol":                 {map[string]string{"proto": "https"}, func(s *sample) { s.Proto = "https" }},
		"list":                     {map[string]string{"list": "/a, ,/b"}, func(s *sample) { s.List = []string{"/a", "/b"} }},
		"group":                    {map[string]string{"risk": "critical"}, func(s *sample) { s.Group.Risk = RiskCritical }},
		"captures":                 {map[string]string{"target": "/$1/$name"}, func(s *sample) { s.Target = "/$1/$name" }},
		"a repeated word":          {map[string]string{"words": "timeout  error timeout"}, func(s *sample) { s.Words = Words{"timeout", "error"} }},
		"buffers":                  {map[string]string{"bufs": "8  32K"}, func(s *sample) { s.Bufs = Buffers{8, "32k"} }},
		"networks over lines":      {map[string]string{"nets": "10.1.2.3/8,\n ::1"}, func(s *sample) { s.Nets = CIDRs{"10.0.0.0/8", "::1"} }},
		"number zero":              {map[string]string{"number": "00"}, func(s *sample) { s.Number = "0" }},
		"server names": {map[string]string{"names": "B.example, .a.example,,~^X|y{2}$, b.*"}, func(s *sample) {
			s.Names = ServerNames{"*.a.example", "a.example", "b.*", "b.example", "~^X|y{2}$"}
		}},
		"workers": {map[string]string{"auto": "3"}, func(s *sample) { s.Auto = 3 }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := defaultSample()
			test.want(&want)
			got, faults := decode(test.given)
			if diff := cmp.Diff(want, got); diff != "" || len(faults) > 0 {
				t.Errorf("faults %v, -want +got:\n%s", faults, diff)
			}
		})
	}
}

// meanwhile is what a Fault says of the default, nothing for a key that costs all.
func meanwhile(key string) string {
	for _, doc := range Describe(sample{}) {
		switch {
		case !slices.Contains(doc.Names, key):
		case doc.Protects:
			return ""
		case doc.From != "":
			return `; the default "from ` + doc.From + `" holds until this is mended`
		case doc.Default != "":
			return `; the default "` + doc.Default + `" holds until this is mended`
		}
	}
	return "; it counts as not written until this is mended"
}

func TestFaults(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 150)
	for key, test := range map[string]struct{ value, text string }{
		"word":     {"hosts", `want "host" or "path" (got "hosts")`},
		"old-word": {"hosts", `want "host" or "path" (got "hosts")`},
		"any":      {"a\nb", `want one line of text (got "a\nb")`},
		"flag":     {"yes", `want "true" or "false" (got "yes")`},
		"count":    {"11", `want a whole number from 1 to 10 (got "11")`},
		"number":   {"ten", `want a whole number from 0 to 1000 (got "ten")`},
		"target":   {"/x; return 200", "want a path of letters, digits and - . _ ~ / : with $1 to $9 for what the path captured (got \"/x; return 200\")"},
		"name":     {long, `want a host name of letters, digits and . - _ (got "` + long[:200] + `"...)`},
		"secret":   {"name", `want the name of a Secret as "namespace/name" (got "name")`},
		"proto":    {"SPDY", `want "HTTP" or "HTTPS" (got "SPDY")`},
		"list":     {"/a,b", `want a list separated by commas, each a path that begins with "/" (got "/a,b")`},
		"size":     {"lots", `want a size such as "512", "8k", "10m" or "1g" (got "lots")`},
		"above":    {"0k", `want a size such as "512", "8k", "10m" or "1g", above 0 (got "0k")`},
		"within":   {"31k", `want a size such as "512", "8k", "10m" or "1g", from 32k to 1g (got "31k")`},
		"bufs":     {"4", `want a number from 1 to 1024 and a size from 512 to 1g, such as "4 8k" (got "4")`},
		"auto":     {"0", `want "auto" or a whole number from 1 to 1024 (got "0")`},
		"time":     {"1 hour", `want a time such as "30s", "10m" or "1h" (got "1 hour")`},
		"wait":     {"0", `want a time such as "30s", "10m" or "1h", of at least 1s (got "0")`},
		"nets":     {"", `want IP addresses and networks separated by commas, such as "10.0.0.0/8, 2001:db8::/32" (got "")`},
		"names":    {"*.a.*", `want server names separated by commas, such as "www.example.com, *.example.org, ~^api[0-9]+\.example\.net$" (got "*.a.*")`},
		"words":    {"error off", `want words separated by spaces, each "error" or "timeout" (got "error off")`},
		"risk":     {"none", `want "Low", "Medium", "High" or "Critical" (got "none")`},
	} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			got, faults := decode(map[string]string{key: test.value})
			if len(faults) != 1 || faults[0].Key != key || faults[0].Value != test.value {
				t.Fatalf("faults: %+v", faults)
			}
			if diff := cmp.Diff(test.text+meanwhile(key), faults[0].Text()); diff != "" {
				t.Error(diff)
			}
			if faults[0].Protects != (key == "nets") {
				t.Errorf("Protects is %v", faults[0].Protects)
			}
			if diff := cmp.Diff(defaultSample(), got); diff != "" {
				t.Errorf("the field does not have its default: %s", diff)
			}
		})
	}
}

// A list of those who are believed must not become that of everybody by a slip.
func TestFaultThatEmpties(t *testing.T) {
	t.Parallel()
	got, faults := decode(map[string]string{"trust": "me"})
	want := defaultSample()
	want.Trust = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	const text = `want IP addresses and networks separated by commas, such as "10.0.0.0/8, 2001:db8::/32" (got "me"); nobody is believed until this is mended`
	if len(faults) != 1 || faults[0].Text() != text {
		t.Fatalf("faults: %+v", faults)
	}
	if texts := textsOf(sample{}, func(key string) (string, bool) { return "me", key == "trust" }, faults); texts["trust"] != "" || texts["size"] != "1m" {
		t.Errorf("texts: %q", texts)
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	docs := Describe(&sample{})
	want := []Doc{
		{Key: "word", Aliases: []string{"old-word", "older-word"}, Type: "string", Default: "host", Risk: RiskMedium, Valid: `"host" or "path"`, Doc: "A word.", EmptyIsUnset: true},
		{Key: "any", Type: "string", From: "setting-any", Needs: "flag", Valid: "one line of text", Doc: "A text.", EmptyIsUnset: true},
	}
	if diff := cmp.Diff(want, docs[:2], cmpopts.IgnoreFields(Doc{}, "Field", "Names")); diff != "" {
		t.Error(diff)
	}
	if got, want := docs[len(docs)-1].Key, "risk"; got != want {
		t.Errorf("the last key is %q, want %q", got, want)
	}
	for _, doc := range docs {
		if doc.Type == "" || doc.Valid == "" {
			t.Errorf("%s: type %q, valid %q", doc.Key, doc.Type, doc.Valid)
		}
	}
}

// textsOf gives the texts of Values by key.
func textsOf(t any, lookup Lookup, faults []Fault) map[string]string {
	texts := map[string]string{}
	for _, v := range Values(t, lookup, nil, faults...) {
		texts[v.Key] = v.Text
	}
	return texts
}

func TestTexts(t *testing.T) {
	t.Parallel()
	given := map[string]string{"word": "path", "count": "x", "flag": "", "size": "", "older-word": "host"}
	lookup := func(key string) (string, bool) { v, ok := given[key]; return v, ok }
	var s sample
	texts := textsOf(&s, lookup, Decode(&s, lookup, nil))
	for key, want := range map[string]string{"word": "path", "count": "5", "flag": "", "size": "1m", "risk": "High"} {
		if got := texts[key]; got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
}

// textOnly can be read, but says nothing of what is valid.
type textOnly string

func (t *textOnly) UnmarshalText(text []byte) error { *t = textOnly(text); return nil }

func TestUnsoundTagsPanic(t *testing.T) {
	t.Parallel()
	for name, tagged := range map[string]any{
		"default": struct {
			A int `key:"a" default:"x"`
		}{},
		"type": struct {
			A float64 `key:"a"`
		}{},
		"empty": struct {
			A int `key:"a" empty:"maybe"`
		}{},
		"type without edges": struct {
			A textOnly `key:"a"`
		}{},
		"risk": struct {
			A int `key:"a" risk:"some"`
		}{},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			Describe(tagged)
		})
	}
}

func TestDidYouMean(t *testing.T) {
	t.Parallel()
	names := NewNames([]string{"use-regex", "rewrite-target", "satisfy"})
	for key, want := range map[string]string{
		"use-rexeg":      `; did you mean "use-regex"?`,
		"use_regex":      `; did you mean "use-regex"?`,
		"useRegex":       `; did you mean "use-regex"?`,
		"Use.Regexes":    `; did you mean "use-regex"?`,
		"rewrite-tagret": `; did you mean "rewrite-target"?`,
		"satisyf":        `; did you mean "satisfy"?`,
		"satisfies":      "",
		"":               "",
		"x":              "",
	} {
		if got := DidYouMean(names.Nearest(key)); got != want {
			t.Errorf("%q: %q, want %q", key, got, want)
		}
	}
}
