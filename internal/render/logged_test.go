package render

import (
	"strings"
	"testing"

	"sluice/internal/model"
	"sluice/internal/settings"
)

// A location is printed with any path in the access log.
func TestLoggedPaths(t *testing.T) {
	t.Parallel()
	values, _ := settings.Read(nil)
	values.LogFormat.Format = "$location_path"
	loaded := load(t)
	for name, test := range map[string]struct{ path, want string }{
		"plain":         {"/a", `set $location_path "/a";`},
		"dollars":       {"/$a$", `set $location_path "/${literal_dollar}a${literal_dollar}";`},
		"a control":     {"/a\x7f", `set $location_path "/a\\x7f";`},
		"no UTF-8":      {"/a\xff", `set $location_path "/a\\xff";`},
		"long":          {"/" + strings.Repeat("a", 3899), `aaa";`},
		"too long":      {"/" + strings.Repeat("a", 3900), `aaa...";`},
		"many dollars":  {"/" + strings.Repeat("$", 3000), `${literal_dollar}...";`},
		"many quotes":   {"/" + strings.Repeat(`"`, 3000), `\"...";`},
		"all dollars":   {strings.Repeat("$", 229), `${literal_dollar}";`},
		"dollars, then": {strings.Repeat("$", 230), `${literal_dollar}...";`},
	} {
		location := ingressLocation("web", model.PrefixFirst, "/a/")
		location.Rule.Path = test.path
		server := &model.Server{Host: "shop.example", Locations: []*model.Location{location}}
		file, problems := loaded.Render(model.Static{Blocks: values.Blocks(), Servers: []*model.Server{catchAll(), server}}, testEnvironment(), nil)
		if text := serverOf(t, file, "shop.example"); !strings.Contains(text, test.want) || !strings.Contains(text, "proxy_pass") || len(problems) > 0 {
			t.Errorf("%s: problems %v, want %s in %.200q", name, problems, test.want, text)
		}
	}
}
