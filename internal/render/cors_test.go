package render_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sluice/internal/annotations"
	"sluice/internal/model"
	"sluice/internal/render"
	"sluice/internal/settings"
	"sluice/templates"
)

// listed returns hosts, each with its own list of origins, one of them as long as allowed.
func listed(t *testing.T, n int) model.Static {
	t.Helper()
	values, _ := settings.Read(nil)
	static := model.Static{Blocks: values.Blocks()}
	label := strings.Repeat("o", 500)
	for i := range n {
		ing := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprint("i", i), Annotations: map[string]string{
			"p/enable-cors": "true", "p/cors-expose-headers": "X-A",
			"p/cors-allow-origin": fmt.Sprintf("https://app%d.example, https://*.tenant%d.example:8443, https://%s", i, i, label),
		}}}
		read := annotations.Read(ing, values, "p")
		if len(read.Problems()) > 0 {
			t.Fatal(read.Problems())
		}
		ref := model.ObjectRef{Kind: "Ingress", Namespace: "shop", Name: ing.Name}
		static.Servers = append(static.Servers, &model.Server{Host: fmt.Sprintf("h%d.example", i), Locations: []*model.Location{
			{Modifier: model.Prefix, Path: "/", Rule: model.Rule{Object: ref}, Blocks: read.Blocks(), Proxy: &model.Proxy{Backend: "shop/web/80"}},
			{Modifier: model.Equal, Path: "/a", Rule: model.Rule{Object: ref}, Blocks: read.Blocks(), Return: &model.Return{Code: 503}},
		}})
	}
	return static
}

var declaration = regexp.MustCompile(`(?m)^\s*(map [^{]*|set \$\w+|geo [^{]*|split_clients [^{]*)`)

// Each request reserves room for every variable, so their number must not grow with that
// of the lists.
func TestListsOfOriginsShareVariables(t *testing.T) {
	t.Parallel()
	set, err := render.Load(templates.Files)
	if err != nil {
		t.Fatal(err)
	}
	installed := installs(t)
	declared := func(n int) []string {
		var names []string
		for _, install := range installed {
			dir := state(t)
			file, problems := set.Render(listed(t, n), environment(dir, install), nil)
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			names = declaration.FindAllString(string(file.Bytes()), -1)
			testFile(t, install, dir, fmt.Sprint(n, " lists"), file)
		}
		slices.Sort(names)
		return slices.Compact(names)
	}
	if diff := cmp.Diff(declared(1), declared(300)); diff != "" {
		t.Errorf("more lists declare more:\n%s", diff)
	}
}
