package kit

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"sluice/internal/manifest/decode"
	"sluice/internal/model"
	"sluice/internal/render"
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
	// Problems are those of the manifests.
	Problems []model.Problem
}

// quiet are the logs of a configuration outside of the test's folder.
var quiet = regexp.MustCompile(`(?m)^(\s*)(access_log|error_log) /\S*(.*);$`)

// Serve serves manifests by an nginx until the test ends. It replaces the endpoints of each backend.
// The settings are those of the ConfigMap sluice/config, and the named snippets those of sluice/snippets, if there are any.
func (n Nginx) Serve(t testing.TB, manifests string, endpoints func(*model.Backend) []model.Endpoint) *Served {
	t.Helper()
	config, problems := translated(t, manifests)
	site := n.Site(t)
	site.Environment.Addresses = []string{"127.0.0.1"}
	file, unprintable := Templates(t).Render(config.Static, site.Environment, nil)
	conf := quiet.ReplaceAllString(string(file.Bytes()), "$1# a log")
	site.Write(t, file.Trust(), []byte(conf))
	site.WriteUsers(t, config.Dynamic.Users)
	backends := make([]*model.Backend, 0, len(config.Dynamic.Backends))
	for _, b := range config.Dynamic.Backends {
		with := *b
		with.Endpoints, with.ExternalName = endpoints(b), ""
		backends = append(backends, &with)
	}
	config.Dynamic.Backends = backends
	running := false
	defer func() {
		if !running { // a test of each file before its start would take as long again
			if said, err := site.Check(); err != nil {
				t.Logf("%s nginx refuses the configuration: %s", n.Name, blamed(file, said))
			}
		}
	}()
	server := site.Start(t)
	running = true
	served := &Served{Server: server, Site: site, Config: config, Conf: conf, Problems: slices.Concat(problems, unprintable)}
	if err := served.Client.Push(t.Context(), config.Dynamic); err != nil {
		t.Fatal(err)
	}
	return served
}

// blamed returns the words of nginx with the owner of the line that it names.
func blamed(file *render.File, said string) string {
	found := refusedLine.FindStringSubmatch(said)
	if found == nil {
		return said
	}
	line, _ := strconv.Atoi(found[1])
	origin, _ := file.Origin(line)
	return fmt.Sprintf("%s\nthe line is of %s, host %q", said, origin.Object, origin.Host)
}

var refusedLine = regexp.MustCompile(`nginx\.conf:(\d+)`)

// translated returns the configuration of manifests.
func translated(t testing.TB, manifests string) (*model.Config, []model.Problem) {
	t.Helper()
	var reader decode.Reader
	objects, _, err := reader.Read("manifests.yaml", []byte(manifests))
	if err != nil {
		t.Fatal(err)
	}
	options := Options(t)
	for _, m := range objects.ConfigMaps {
		switch name := (snapshot.Name{Namespace: m.Namespace, Name: m.Name}); name {
		case snapshot.Name{Namespace: "sluice", Name: "config"}:
			options.ConfigMap = name
		case snapshot.Name{Namespace: "sluice", Name: "snippets"}:
			options.NamedSnippets = name
		}
	}
	snap, problems := snapshot.New(objects)
	config, more := translate.ConfigWith(snap, options, nil, nil)
	return &config, slices.Concat(problems, more)
}
