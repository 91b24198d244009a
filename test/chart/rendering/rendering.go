// Package rendering renders charts/sluice as `helm install` does: by Helm's own
// modules, with the values checked against the chart's schema.
//
//	r, err := rendering.Default().Render("controller: {replicaCount: 2}")
//	fmt.Println(r.Manifests, r.Notes)
package rendering

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"path/filepath"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/engine"
	release "helm.sh/helm/v4/pkg/release/v1/util"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	yamlreader "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"sluice/test/kit"
)

// Release is what the chart is rendered for.
type Release struct {
	Name, Namespace string
	// Kubernetes is the API server's version, such as v1.37.0.
	Kubernetes string
}

// Default is the release that the documentation installs.
func Default() Release {
	return Release{Name: "sluice", Namespace: "sluice", Kubernetes: "v1.37.0"}
}

// Rendering is what a release consists of.
type Rendering struct {
	// Manifests are the documents in the order in which Helm installs them, with
	// the comments of the templates.
	Manifests string
	// Notes are what Helm says then.
	Notes string
	// Objects are the documents.
	Objects []*unstructured.Unstructured
}

// Root is the root of the repository, empty if go cannot say it.
func Root() string {
	root, _ := kit.ModuleRoot()
	return root
}

// Folder is that of the chart.
func Folder() string { return filepath.Join(Root(), "charts", "sluice") }

// Parse reads values of YAML.
func Parse(text string) (map[string]any, error) {
	values := map[string]any{}
	err := yaml.Unmarshal([]byte(text), &values)
	return values, err
}

// Render renders the chart with values of YAML.
func (r Release) Render(values string) (*Rendering, error) {
	given, err := Parse(values)
	if err != nil {
		return nil, err
	}
	return r.RenderValues(given)
}

// RenderValues renders the chart with values.
func (r Release) RenderValues(values map[string]any) (*Rendering, error) {
	loaded, err := load()
	if err != nil {
		return nil, err
	}
	version, err := common.ParseKubeVersion(r.Kubernetes)
	if err != nil {
		return nil, err
	}
	if wanted := loaded.Metadata.KubeVersion; !chartutil.IsCompatibleRange(wanted, version.Version) {
		return nil, fmt.Errorf("the chart wants Kubernetes %s (got %s)", wanted, version.Version)
	}
	capabilities := common.DefaultCapabilities.Copy()
	capabilities.KubeVersion = *version
	if err := withImage(values); err != nil {
		return nil, err
	}
	options := common.ReleaseOptions{Name: r.Name, Namespace: r.Namespace, Revision: 1, IsInstall: true}
	all, err := util.ToRenderValues(loaded, values, options, capabilities)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(loaded, all)
	if err != nil {
		return nil, err
	}
	return gather(files)
}

// withImage gives the repository that the chart wants, where the values name
// neither one nor a registry, unless they say that there is none by an empty one.
func withImage(values map[string]any) error {
	repository := func(at ...string) bool {
		_, found, _ := unstructured.NestedFieldNoCopy(values, at...)
		return found
	}
	if repository("controller", "image", "repository") || repository("controller", "image", "registry") || repository("controller", "image", "image") || repository("global", "image", "registry") {
		return nil
	}
	for _, at := range [][]string{{"controller"}, {"controller", "image"}} {
		if now, found, _ := unstructured.NestedFieldNoCopy(values, at...); found {
			if _, is := now.(map[string]any); !is {
				return nil // the schema refuses it
			}
		}
	}
	return unstructured.SetNestedField(values, "sluice", "controller", "image", "repository")
}

// load reads the chart anew: rendering may change its values.
func load() (*chart.Chart, error) { return loader.LoadDir(Folder()) }

// gather puts the rendered files in order.
func gather(files map[string]string) (*Rendering, error) {
	notes := ""
	maps.DeleteFunc(files, func(name, text string) bool {
		if strings.HasSuffix(name, "NOTES.txt") {
			notes = text
		}
		return strings.HasSuffix(name, "NOTES.txt")
	})
	_, sorted, err := release.SortManifests(files, nil, release.InstallOrder)
	if err != nil {
		return nil, err
	}
	var all strings.Builder
	for _, one := range sorted {
		all.WriteString("---\n" + strings.TrimSpace(one.Content) + "\n")
	}
	objects, err := Objects(all.String())
	return &Rendering{Manifests: all.String(), Notes: notes, Objects: objects}, err
}

// Objects reads the documents of a YAML text. A key that is there twice is an
// error.
func Objects(text string) ([]*unstructured.Unstructured, error) {
	reader := yamlreader.NewYAMLReader(bufio.NewReader(strings.NewReader(text)))
	var all []*unstructured.Unstructured
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		u := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict(document, &u.Object); err != nil {
			return nil, fmt.Errorf("%w in:\n%s", err, document)
		}
		if len(u.Object) > 0 {
			all = append(all, u)
		}
	}
}

// Lint gives what `helm lint` finds of the chart with values, its notes of no
// weight left out.
func Lint(values map[string]any) []support.Message {
	var said bytes.Buffer
	was := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&said, nil)))
	defer slog.SetDefault(was)
	var found []support.Message
	if err := withImage(values); err != nil {
		return []support.Message{{Severity: support.ErrorSev, Err: err}}
	}
	for _, m := range lint.RunAll(Folder(), values, "sluice").Messages {
		if m.Severity > support.InfoSev {
			found = append(found, m)
		}
	}
	if said.Len() > 0 {
		found = append(found, support.NewMessage(support.WarningSev, Folder(), errors.New(said.String())))
	}
	return found
}
