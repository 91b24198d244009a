package render

import (
	"fmt"
	"testing"

	"sluice/internal/model"
	"sluice/templates"
)

func load(t testing.TB) *Templates {
	t.Helper()
	loaded, err := Load(templates.Files)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

func testEnvironment() Environment {
	return Environment{
		HTTPPort: 8080, HTTPSPort: 8443, StateDir: "/state", Lua: "/state/lua", Workers: 2, IPv6: true,
		Capabilities: Capabilities{HTTP2Directive: true},
	}
}

// ingressLocation is a location of the Ingress shop/<name>.
func ingressLocation(name string, modifier model.Modifier, path string) *model.Location {
	return &model.Location{
		Modifier: modifier, Path: path,
		Rule:  model.Rule{Object: model.ObjectRef{Kind: "Ingress", Namespace: "shop", Name: name}, Field: "spec.rules[0].http.paths[0]", Path: path, PathType: "Prefix", Kind: model.RuleWritten},
		Proxy: &model.Proxy{Backend: "shop/web/80", Service: model.ServicePort{Namespace: "shop", Name: "web", Port: "80"}},
	}
}

func catchAll() *model.Server {
	return &model.Server{Locations: []*model.Location{{Modifier: model.Prefix, Path: "/", Rule: model.Rule{Kind: model.RuleFallback}, Return: &model.Return{Code: 404}}}}
}

func TestPrint(t *testing.T) {
	static := model.Static{Servers: []*model.Server{catchAll(), {Host: "shop.example", Locations: []*model.Location{ingressLocation("web", model.PrefixFirst, "/")}}}}
	f, problems := load(t).Render(static, testEnvironment(), nil)
	fmt.Println(string(f.Bytes()), problems)
	for _, s := range f.SourceMap() {
		fmt.Println(s)
	}
}
