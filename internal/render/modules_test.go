package render

import (
	"strings"
	"testing"
)

// headers-more is loaded only if a snippet uses it. If nginx lacks it, such a snippet
// closes its location, and the Problem names the package to install.
func TestHeadersMore(t *testing.T) {
	t.Parallel()
	const module = "/modules/headers_more.so"
	with := testEnvironment()
	with.Modules, with.HeadersMoreModule, with.Capabilities.HeadersMore = []string{"/modules/lua.so"}, module, true
	within := "if ($arg_x) { more_clear_headers Server; }"
	tests := map[string]struct {
		env    Environment
		data   snippetData
		all    string
		loaded bool
		closed bool
	}{
		"of a location":     {env: with, data: snippetData{Location: "more_set_headers \"X-A: 1\";"}, loaded: true},
		"within a block":    {env: with, data: snippetData{Location: within}, loaded: true},
		"of a server":       {env: with, data: snippetData{Server: "more_set_input_headers \"X-A: 1\";"}, loaded: true},
		"of the http level": {env: with, all: "more_set_headers \"X-A: 1\";", loaded: true},
		"only a comment":    {env: with, data: snippetData{Location: "# more_set_headers \"X-A: 1\";\nset $more_x 1;"}},
		"only a value":      {env: with, data: snippetData{Location: "add_header X \"more_set_headers\";"}},
		"no snippet":        {env: with},
		"no module":         {env: testEnvironment(), data: snippetData{Location: within}, closed: true},
	}
	for name, test := range tests {
		file, problems := withSnippetsIn(t, test.env, test.data, test.all)
		text := string(file.Bytes())
		if got := strings.Count(text, "load_module "+module+";") == 1; got != test.loaded {
			t.Errorf("%s: loaded is %t, want %t:\n%s", name, got, test.loaded, text)
		}
		if !test.closed {
			if len(problems) > 0 {
				t.Errorf("%s: %v", name, problems)
			}
			continue
		}
		if len(problems) != 1 || !problems[0].Denies || !strings.Contains(problems[0].Text, "install libnginx-mod-http-headers-more-filter") {
			t.Errorf("%s: %v", name, problems)
		}
		if !strings.Contains(text, "location ^~ \"/a/\" {\n\t\treturn 503;") {
			t.Errorf("%s: the location is not closed:\n%s", name, text)
		}
	}
}
