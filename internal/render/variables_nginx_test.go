package render_test

import (
	"fmt"
	"testing"

	"sluice/internal/model"
	"sluice/internal/render"
	"sluice/internal/settings"
	"sluice/templates"
)

// TestEveryNginxDefinesTheVariablesThatUsersMayName: nginx refuses the whole file for an
// unknown variable, and names no line. Our own variables depend on the settings for
// proxies in front.
func TestEveryNginxDefinesTheVariablesThatUsersMayName(t *testing.T) {
	t.Parallel()
	loaded, err := render.Load(templates.Files)
	if err != nil {
		t.Fatal(err)
	}
	modes := map[string]func(*settings.Settings){
		"nothing in front": func(*settings.Settings) {},
		"headers":          func(s *settings.Settings) { s.Forwarded.Use = true },
		"all headers":      func(s *settings.Settings) { s.Forwarded.Use, s.Forwarded.Full = true, true },
		"PROXY header":     func(s *settings.Settings) { s.Forwarded.ProxyProtocol = true },
		"both":             func(s *settings.Settings) { s.Forwarded.Use, s.Forwarded.ProxyProtocol = true, true },
		"no HTTP/2":        func(s *settings.Settings) { s.HTTP2.Enabled = false },
		"no log":           func(s *settings.Settings) { s.Log.DisableAccess = true },
	}
	server := &model.Server{Host: "variables.test"}
	for _, name := range render.UserVariables() {
		path := "/" + name
		server.Locations = append(server.Locations, &model.Location{Modifier: model.Equal, Path: path,
			Return: &model.Return{Code: 302, URL: fmt.Sprintf("http://a.test/${%s}", name)}})
	}
	for _, install := range installs(t) {
		dir := state(t)
		for mode, set := range modes {
			values, _ := settings.Read(nil)
			set(values)
			for _, passes := range []bool{false, true} {
				static := model.Static{Blocks: values.Blocks(), Servers: []*model.Server{server}, PassesThrough: passes}
				file, _ := loaded.Render(static, environment(dir, install), nil)
				testFile(t, install, dir, fmt.Sprint(mode, ", passed through: ", passes), file)
			}
		}
	}
}
