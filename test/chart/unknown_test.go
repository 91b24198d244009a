package chart

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	kyaml "sigs.k8s.io/yaml"

	"sluice/test/chart/rendering"
)

// names are the values below one; below one of nil there can be any.
type names map[string]any

// namesOf are the names that values.yaml has.
func namesOf(v *value) names {
	if v.open() || len(v.below) == 0 {
		return nil
	}
	all := names{}
	for _, one := range v.below {
		all[one.path[len(one.path)-1]] = namesOf(one)
	}
	return all
}

// wantedNames is names.yaml as values.yaml and without-effect.yaml have it.
func wantedNames(t testing.TB) string {
	t.Helper()
	root := namesOf(readValues(t))
	for _, group := range readUnused(t) {
		for name := range group.Values {
			at, path := root, strings.Split(name, ".")
			for _, part := range path[:len(path)-1] {
				if at[part] == nil {
					at[part] = names{}
				}
				at = at[part].(names)
			}
			at[path[len(path)-1]] = names(nil)
		}
	}
	content, err := kyaml.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	return "# The values that there are, by which a misspelled one is refused; `make golden` writes them\n# from values.yaml and without-effect.yaml. Below null there can be any.\n" + string(content)
}

// TestUnknownValuesAreRefused: one error names all values that neither chart has, with
// those that were meant.
func TestUnknownValuesAreRefused(t *testing.T) {
	t.Parallel()
	const none = ": no value has this name"
	for values, lines := range map[string][]string{
		"controller: {replicaCont: 2}":                                  {`controller.replicaCont` + none + `; did you mean "controller.replicaCount"?`},
		"controller: {replicacount: 2}":                                 {`controller.replicacount` + none + `; did you mean "controller.replicaCount"?`},
		"controller: {service: {internal: {enable: true}}}":             {`controller.service.internal.enable` + none + `; did you mean "controller.service.internal.enabled"?`},
		"controller: {admissionWebhooks: {enabeld: true}}":              {`controller.admissionWebhooks.enabeld` + none + `; did you mean "controller.admissionWebhooks.enabled"?`},
		"replicaCount: 2":                                               {`replicaCount` + none + `; did you mean "controller.replicaCount"?`},
		"replicas: null":                                                {`replicas` + none},
		"{Controller: {a: b}, controller: {sevrice: {}, podLabel: {}}}": {`Controller` + none + `; did you mean "controller"?`, `controller.podLabel` + none + `; did you mean "controller.podLabels"?`, `controller.sevrice` + none + `; did you mean "controller.service"?`},
		"controller: {\"a\\n{{ fail }}\": 1}":                           {"controller.a\n{{ fail }}" + none},
	} {
		_, err := rendering.Default().Render(values)
		if want := "\n- " + strings.Join(lines, "\n- ") + "\ndocs/reference/values.md"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: want an error that says %q (got %v)", values, want, err)
		}
	}
}

// TestAnyNameIsTaken: where users choose the names, and where charts above this one do.
func TestAnyNameIsTaken(t *testing.T) {
	t.Parallel()
	for _, values := range []string{
		"controller: {nodeSelector: {pool: edge}, resources: {claims: []}, admissionWebhooks: {patch: {image: {tag: a}}}, livenessProbe: {exec: {}, httpGet: {host: a}}}",
		"{global: {imageRegistry: a.example, image: {pullPolicy: Always}, storageClass: a}, controller: {image: {repository: a.example/sluice}}}",
		"enabled: true",
	} {
		if _, err := rendering.Default().Render(values); err != nil {
			t.Errorf("%s: %v", values, err)
		}
	}
}

// parent writes a chart that has this one below it, with its values.
func parent(t testing.TB, values string) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.CopyFS(filepath.Join(folder, "charts", "sluice"), os.DirFS(rendering.Folder())); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"Chart.yaml":  "apiVersion: v2\nname: platform\nversion: 1.0.0\ndependencies:\n- {name: sluice, version: 0.1.0, condition: sluice.enabled}\n",
		"values.yaml": "global: {tier: edge}\nother: {}\nsluice:\n  enabled: true\n  controller:\n    image: {repository: registry.example/sluice}\n" + values,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// TestHelmNamesUnknownValues: the helm that users have says it in each command, also
// where a chart above this one gives the values, and takes what is right.
func TestHelmNamesUnknownValues(t *testing.T) {
	t.Parallel()
	clients := os.Getenv("SLUICE_CLIENTS")
	if clients == "" {
		t.Skip("SLUICE_CLIENTS names no folder with helm; make test does")
	}
	image := []string{"--set", "controller.image.repository=registry.example/sluice"}
	for _, test := range []struct {
		command []string
		says    string
	}{
		{append([]string{"template", "sluice", rendering.Folder()}, image...), ""},
		{append([]string{"template", "sluice", rendering.Folder(), "--set", "controller.replicaCont=3"}, image...), `- controller.replicaCont: no value has this name; did you mean "controller.replicaCount"?`},
		{append([]string{"install", "sluice", rendering.Folder(), "--dry-run=client", "--set", "controller.replicaCont=3"}, image...), `did you mean "controller.replicaCount"?`},
		{append([]string{"lint", rendering.Folder(), "--set", "controller.replicaCont=3"}, image...), "did you mean \\\"controller.replicaCount\\\"?"},
		{append([]string{"template", "sluice", rendering.Folder(), "--set", "controller.replicaCount=many,controller.replicaCont=3"}, image...), "'/controller/replicaCount': got string, want integer"},
		{[]string{"lint", rendering.Folder()}, ""},
		{[]string{"template", "platform", parent(t, "")}, ""},
		{[]string{"template", "platform", parent(t, "    replicaCont: 3\n")}, `- controller.replicaCont: no value has this name; did you mean "controller.replicaCount"?`},
	} {
		output, err := exec.Command(filepath.Join(clients, "helm"), test.command...).CombinedOutput()
		if failed := err != nil; failed != (test.says != "") || !strings.Contains(string(output), test.says) {
			t.Errorf("helm %s: %v, want %q:\n%s", strings.Join(test.command, " "), err, test.says, output)
		}
	}
}
