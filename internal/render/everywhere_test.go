package render

import (
	"strings"
	"testing"

	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/settings"
)

// A snippet of the settings that cannot be printed, for example because nginx lacks a module,
// closes all paths once, with one Problem, and not the health check.
func TestSnippetsOfTheSettingsThatCannotBePrinted(t *testing.T) {
	t.Parallel()
	values, _ := settings.Read(nil)
	source := model.ObjectRef{Kind: "ConfigMap", Namespace: "a", Name: "b"}
	for _, broken := range []func(*settings.Settings){
		func(s *settings.Settings) { s.HTTPSnippet.Text = "more_clear_headers Server;" },
		func(s *settings.Settings) { s.ServersSnippet.Text = "more_clear_headers Server;" },
		func(s *settings.Settings) { s.LocationsSnippet.Text = keys.GlobalSnippet("set $compared_host a;") },
	} {
		own := *values
		broken(&own)
		blocks := own.Blocks()
		for i := range blocks {
			blocks[i].Source = source
		}
		served := &model.Return{Code: 204}
		file, problems := load(t).Render(model.Static{Blocks: blocks, Servers: []*model.Server{
			{Locations: []*model.Location{{Modifier: model.Equal, Path: "/healthz", Rule: model.Rule{Kind: model.RuleHealth}, Return: served}}},
			{Host: "a.example", Locations: []*model.Location{{Modifier: model.Prefix, Path: "/", Rule: model.Rule{Kind: model.RuleWritten}, Return: served}}},
		}}, testEnvironment(), nil)
		text := string(file.Bytes())
		if len(problems) != 1 || !problems[0].Denies || problems[0].Object != source {
			t.Errorf("problems %v", problems)
		}
		if strings.Count(text, "return 204;") != 1 || !strings.Contains(text, "location \"/\" {\n\t\treturn 503;") || strings.Contains(text, "more_clear_headers") {
			t.Errorf("got\n%s", text)
		}
	}
}
