package render

import (
	"errors"
	"strings"
	"testing"

	"sluice/internal/model"
	"sluice/internal/syntax"
	"sluice/internal/tokens"
)

// snippets is a behaviour with a snippet in each context.
const snippets = `{{ define "x/location" }}{{ .Location | raw }}{{ end }}
{{ define "x/server" }}{{ .Server | raw }}{{ end }}
{{ define "y/http" }}{{ .Text | raw }}{{ end }}
{{ define "y/main" }}{{ .Text | raw }}{{ end }}
{{ define "y/catchall" }}{{ .Text | raw }}{{ end }}`

type snippetData struct{ Location, Server string }

// withSnippets renders a host whose server and location have snippets, and the file
// with one at the levels main, http and the catch-all server.
func withSnippets(t *testing.T, host snippetData, all string) (*File, []model.Problem) {
	t.Helper()
	return withSnippetsIn(t, testEnvironment(), host, all)
}

func withSnippetsIn(t *testing.T, e Environment, host snippetData, all string) (*File, []model.Problem) {
	t.Helper()
	files := withTemplate(t, "x.tmpl", snippets)
	loaded, err := Load(files)
	if err != nil {
		t.Fatal(err)
	}
	owner := model.ObjectRef{Kind: "Ingress", Namespace: "shop", Name: "web"}
	block := model.Block{Name: "x", Data: host, Source: owner}
	location := ingressLocation("web", model.PrefixFirst, "/a/")
	location.Blocks = []model.Block{block}
	other := ingressLocation("other", model.PrefixFirst, "/b/")
	return loaded.Render(model.Static{
		Blocks:  []model.Block{{Name: "y", Data: struct{ Text string }{all}, Source: model.ObjectRef{Kind: "ConfigMap", Namespace: "sluice", Name: "config"}}},
		Servers: []*model.Server{catchAll(), {Host: "shop.example", Blocks: []model.Block{block}, Locations: []*model.Location{location, other}}},
	}, e, nil)
}

// A snippet can be in any context, with any directives. It stays unchanged, and the source
// map names its owner.
func TestSnippetsInEachContext(t *testing.T) {
	t.Parallel()
	location := "return 200 \"one\n\n   two }\";\nif ($x) {\n  anything \"}\";\n} # }"
	server := "rewrite ^/q /r;\nlocation /own { return 204; }"
	file, problems := withSnippets(t, snippetData{location, server}, "some_directive { of its own; }")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	text := string(file.Bytes())
	for part, times := range map[string]int{location + "\n": 1, server + "\n": 1, "some_directive { of its own; }\n": 3} {
		if strings.Count(text, part) != times {
			t.Errorf("%q is there %d times, want %d, in\n%s", part, strings.Count(text, part), times, text)
		}
	}
	if strings.Contains(text, tokens.RawMark) {
		t.Error("a mark is left")
	}
	owned := map[string]string{}
	for line := range file.Lines() {
		if line.Behaviour == "x" || line.Behaviour == "y" {
			owned[line.Behaviour+" "+line.Object.Name] += string(line.Text)
		}
	}
	if got := owned["x web"]; got != server+"\n"+location+"\n" {
		t.Errorf("the source map gives the owner %q", got)
	}
	if got := owned["y config"]; strings.Count(got, "some_directive") < 2 {
		t.Errorf("the source map gives the ConfigMap %q", got)
	}
}

// A snippet that is not closed closes its location, and nothing else of the server.
func TestSnippetsThatAreNotClosed(t *testing.T) {
	t.Parallel()
	for _, snippet := range []string{
		"}", "} location / { return 200; ", "a \"b;", "a 'b;", "a {", "a b", "a;\x00", "\x00a;\x00", "# a\rdeny all;", "content_by_lua_block { }", "a \"b\"c;",
		"set $route other/x/web/80;", "set $ROUTE x;", "set \"$proxy_upstream_name\" x;", "set ${route} x;", "auth_request_set $route x;", "set_escape_uri $route x;", "set $cors_x 1;", "set $http_host x;",
		"if ($uri ~ \"(?<route>.*)\") { }", "if ($uri ~ (?'route'.*)) { }", "if ($uri ~ '(?P<Route>.*)') { }", "rewrite \"(?<args>.*)\" /x;", "if ($uri ~ (?\\'http_upgrade\\'.*)) { }",
		"if ($uri ~ \"(?<loggable>.*)\") { }", "location ~ \"(?<balancer_ewma_score>.*)\" { }", "rewrite ^/(?<global_rate_limit_exceeding>.*) /x;",
	} {
		file, problems := withSnippets(t, snippetData{Location: snippet}, "")
		if len(problems) != 1 || !problems[0].Denies || problems[0].Object.Name != "web" {
			t.Errorf("%q: %v", snippet, problems)
		}
		text := string(file.Bytes())
		if strings.Count(text, "location ^~ \"/a/\" {\n\t\treturn 503;\n\t}\n\tlocation ^~ \"/b/\" {\n\t\tset $route") != 1 {
			t.Errorf("%q: the location is not closed, or its neighbour is:\n%s", snippet, text)
		}
	}
	for _, snippet := range []string{"set $mine $route;", "set $args a=b;", "set $limit_rate 1k;", "proxy_set_header X $route;", "if ($uri ~ \"(?<mine>.*)\") { }", "if ($uri ~ \"(?<target>.*)\") { }", "set $loggable 0;", "set $balancer_ewma_score 0;", "set_real_ip_from 10.0.0.0/8;"} {
		if _, problems := withSnippets(t, snippetData{Location: snippet}, ""); len(problems) > 0 {
			t.Errorf("%q: %v", snippet, problems)
		}
	}
}

// The same for the file as a whole, and for a server.
func TestOtherSnippetsThatAreNotClosed(t *testing.T) {
	t.Parallel()
	for _, snippet := range []string{"}", "a \"b;", "a {", "a b", "set $route x;"} {
		_, problems := withSnippets(t, snippetData{Server: snippet}, "")
		if len(problems) == 0 || problems[0].Object.Name != "web" {
			t.Errorf("server, %q: %v", snippet, problems)
		}
		file, problems := withSnippets(t, snippetData{}, snippet)
		if len(problems) == 0 {
			t.Errorf("http, %q: no problem", snippet)
		}
		if _, err := syntax.Parse(file.Bytes()); err != nil || !strings.Contains(string(file.Bytes()), "shop.example") {
			t.Errorf("http, %q: the file is not whole: %v", snippet, err)
		}
	}
}

// The structure check refuses a snippet in a place where it does not expect one.
func TestStructureBracketsSnippets(t *testing.T) {
	t.Parallel()
	grammar := tokens.NewNode("")
	grammar.Block("a", tokens.Counts{Min: 0, Max: 0}).Leaf("b", tokens.Counts{Min: 1, Max: 1})
	for _, c := range []struct {
		text     string
		from, to int
		want     string
	}{
		{"a { b 1; x { y; }\n b 2; }", 9, 18, ""},
		{"a { b 1; x { y; }\n b 2; }", 0, 0, `the block "x"`},
		{"a { b 1; x { y; \n b 2; }", 9, 17, "not closed"},
		{"a { b 1; x; # b 2; }", 9, 15, "without a line end"},
		{"a { b x;\n }", 6, 9, "within a directive"},
	} {
		raw := []extent{{c.from, c.to}}
		if c.to == 0 {
			raw = nil
		}
		err := checkText(grammar, []byte(c.text), raw...)
		var refused *StructureError
		if c.want == "" && err != nil || c.want != "" && (!errors.As(err, &refused) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: got %v, want %q", c.text, err, c.want)
		}
	}
}

// A location whose snippet has directives for headers still has those from outside.
func TestSnippetsKeepWhatIsInherited(t *testing.T) {
	t.Parallel()
	file, problems := withSnippets(t, snippetData{Location: "proxy_set_header X-Own 1;"}, "")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	_, location, _ := strings.Cut(string(file.Bytes()), `location ^~ "/a/" {`)
	location, _, _ = strings.Cut(location, "\n\t}\n")
	if !strings.Contains(location, "proxy_set_header Host ") || !strings.Contains(location, "proxy_set_header X-Own 1;") {
		t.Errorf("the location loses headers:\n%s", location)
	}
}
