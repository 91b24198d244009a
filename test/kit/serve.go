package kit

import (
	"regexp"
	"slices"
	"testing"

	"sluice/internal/manifest/decode"
	"sluice/internal/model"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
)

// Served is an nginx that serves manifests without a controller.
type Served struct {
	*Server
	*Site
	// Config is what the manifests become, Conf its nginx.conf.
	Config *model.Config
	Conf   string
}

// quiet are the logs of a configuration outside of the test's folder.
var quiet = regexp.MustCompile(`(?m)^(\s*)(access_log|error_log) /\S*(.*);$`)

// Serve serves manifests by an nginx until the test ends. It replaces the endpoints of each backend.
// The settings are those of the ConfigMap sluice/config, if there is one. The manifests must be
// without Problems.
func (n Nginx) Serve(t testing.TB, manifests string, endpoints func(*model.Backend) []model.Endpoint) *Served {
	t.Helper()
	config := translated(t, manifests)
	site := n.Site(t)
	site.Environment.Addresses = []string{"127.0.0.1"}
	file, problems := Templates(t).Render(config.Static, site.Environment, nil)
	if len(problems) > 0 {
		t.Fatalf("render leaves something out: %v", problems)
	}
	conf := quiet.ReplaceAllString(string(file.Bytes()), "")
	site.Write(t, file.Trust(), []byte(conf))
	site.WriteUsers(t, config.Dynamic.Users)
	backends := make([]*model.Backend, 0, len(config.Dynamic.Backends))
	for _, b := range config.Dynamic.Backends {
		with := *b
		with.Endpoints, with.ExternalName = endpoints(b), ""
		backends = append(backends, &with)
	}
	config.Dynamic.Backends = backends
	served := &Served{Server: site.Start(t), Site: site, Config: config, Conf: conf}
	if err := served.Client.Push(t.Context(), config.Dynamic); err != nil {
		t.Fatal(err)
	}
	return served
}

// translated returns the configuration of manifests, which must be without Problems.
func translated(t testing.TB, manifests string) *model.Config {
	t.Helper()
	var reader decode.Reader
	objects, _, err := reader.Read("manifests.yaml", []byte(manifests))
	if err != nil {
		t.Fatal(err)
	}
	options := Options(t)
	for _, m := range objects.ConfigMaps {
		if m.Namespace == "sluice" && m.Name == "config" {
			options.ConfigMap = snapshot.Name{Namespace: m.Namespace, Name: m.Name}
		}
	}
	snap, problems := snapshot.New(objects)
	config, more := translate.ConfigWith(snap, options, nil, nil)
	if problems = slices.Concat(problems, more); len(problems) > 0 {
		t.Fatalf("the manifests have %d Problems, the first is: %v", len(problems), problems[0])
	}
	return &config
}
