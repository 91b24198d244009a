package decode

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/snapshot"
)

// Of a Deployment or DaemonSet the arguments of Sluice or ingress-nginx are known, and
// of others nothing.
func TestArgumentsOfControllers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		kind, containers string
		want             []string
	}{
		"ingress-nginx":              {"Deployment", "[{name: a}, {name: b, args: [/nginx-ingress-controller, --v=2]}]", []string{"--v=2"}},
		"with an init":               {"DaemonSet", "[{command: [/usr/bin/dumb-init, --], args: [/nginx-ingress-controller, --v=2]}]", []string{"--v=2"}},
		"Sluice":                     {"Deployment", "[{command: [/usr/bin/sluice], args: [run, --http-port=8080]}]", []string{"--http-port=8080"}},
		"Sluice's image":             {"Deployment", "[{image: 'registry.example:5000/a/sluice:1@sha256:00', args: [run, -v]}]", []string{"-v"}},
		"without arguments":          {"Deployment", "[{args: [/nginx-ingress-controller]}]", []string{}},
		"values of the environment":  {"Deployment", "[{args: [/nginx-ingress-controller, --a=$(POD_NAMESPACE)/$(A), --b=$(B)], env: [{name: A, value: x}, {name: B}]}]", []string{"--a=ingress/x", "--b=$(B)"}},
		"another program":            {"Deployment", "[{command: [/bin/other, run], args: [--configmap=a/b]}]", nil},
		"another image":              {"Deployment", "[{image: other, args: [run]}]", nil},
		"another command of Sluice":  {"Deployment", "[{command: [sluice, lint]}]", nil},
		"a kind that runs no server": {"Job", "[{args: [/nginx-ingress-controller]}]", nil},
		"what does not decode":       {"Deployment", "1", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, notes, err := FromYAML("f.yaml", []byte("{apiVersion: apps/v1, kind: "+test.kind+", metadata: {name: a, namespace: ingress}, spec: {template: {spec: {containers: "+test.containers+"}}}}"))
			if err != nil || len(notes) != 1 {
				t.Fatalf("%v, %v", notes, err)
			}
			if diff := cmp.Diff(test.want, notes[0].Arguments); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if notes[0].Arguments != nil && notes[0].Object != test.kind+" ingress/a" {
				t.Errorf("the object is %q", notes[0].Object)
			}
		})
	}
}

// Of a controller the folders are known that it can write to, with their limits.
func TestFoldersOfControllers(t *testing.T) {
	t.Parallel()
	const mounts = `volumeMounts: [{name: a, mountPath: /a/}, {name: b, mountPath: /tmp}, {name: c, mountPath: /c, readOnly: true}, {name: d, mountPath: /d}, {name: none, mountPath: /e}, {name: a, mountPath: /f}]`
	const volumes = `volumes: [{name: a, emptyDir: {sizeLimit: 1Gi}}, {name: b, emptyDir: {sizeLimit: 1000}}, {name: c, emptyDir: {}}, {name: d, secret: {secretName: d}}]`
	a, tmp, f := snapshot.Folder{Path: "/a", Limit: 1 << 30, Empty: true}, snapshot.Folder{Path: "/tmp", Limit: 1000, Empty: true}, snapshot.Folder{Path: "/f", Limit: 1 << 30, Empty: true}
	filled := func(f snapshot.Folder) snapshot.Folder { f.Empty = false; return f }
	for name, test := range map[string]struct {
		spec     string
		want     []snapshot.Folder
		isSluice bool
	}{
		"Sluice":                     {"containers: [{command: [sluice], args: [run], securityContext: {readOnlyRootFilesystem: true}, " + mounts + "}], " + volumes, []snapshot.Folder{a, tmp, f}, true},
		"with a container before it": {"initContainers: [{name: a}], containers: [{command: [sluice], args: [run], securityContext: {readOnlyRootFilesystem: true}, " + mounts + "}], " + volumes, []snapshot.Folder{filled(a), filled(tmp), filled(f)}, true},
		"all is writable":            {"containers: [{command: [sluice], args: [run], " + mounts + "}], " + volumes, []snapshot.Folder{a, tmp, f, {Path: "/tmp"}, {Path: "/var/tmp"}, {Path: "/var/lib/sluice"}}, true},
		"ingress-nginx, whose image has other folders": {"containers: [{args: [/nginx-ingress-controller], " + mounts + "}], " + volumes, []snapshot.Folder{a, tmp, f}, false},
		"no volumes":            {"containers: [{args: [/nginx-ingress-controller]}]", nil, false},
		"a limit that is wrong": {"containers: [{args: [/nginx-ingress-controller], securityContext: {readOnlyRootFilesystem: true}, volumeMounts: [{name: a, mountPath: /a}]}], volumes: [{name: a, emptyDir: {sizeLimit: [x]}}]", []snapshot.Folder{{Path: "/a", Empty: true}}, false},
	} {
		_, notes, err := FromYAML("f.yaml", []byte("{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {template: {spec: {"+test.spec+"}}}}"))
		if err != nil || len(notes) != 1 {
			t.Fatalf("%s: %v, %v", name, notes, err)
		}
		if diff := cmp.Diff(test.want, notes[0].Folders); diff != "" || notes[0].IsSluice != test.isSluice {
			t.Errorf("%s: is Sluice %v (-want +got):\n%s", name, notes[0].IsSluice, diff)
		}
	}
}

// A template of Helm is named as one, whatever it is that does not read.
func TestTemplatesOfHelm(t *testing.T) {
	t.Parallel()
	const header = "apiVersion: networking.k8s.io/v1\nkind: Ingress\n"
	for text, want := range map[string]string{
		"{{- if .Values.ingress }}\n" + header + "{{- end }}\n":           notRendered,
		header + "metadata: {{ .Values.metadata }}\n":                     notRendered,
		header + "metadata:\n  name: {{ include \"a\" . }}\n":             notRendered,
		header + "spec:\n  rules:\n  - {{ .Values.rule }}\n":              notRendered,
		header + "metadata: {name: \"{{ .Values.name }}\"}\nspec: {a: b}": notRendered,
		header + "metadata: {name: a}\n? [x]\n: y\n":                      "want keys that are text (got a list): put them in quotes",
		header + "metadata: {name: a}\n? {x: y}\n: y # {{ no }}\n":        "want keys that are text (got an object): put them in quotes",
	} {
		_, _, err := FromYAML("f.yaml", []byte(text))
		if errs := Errors(err); len(errs) != 1 || errs[0].(*snapshot.DecodeError).Text != want {
			t.Errorf("%s\n%v", text, errs)
		}
	}
	if _, _, err := FromYAML("f.yaml", []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: |\n    {{ b }}\n")); err != nil {
		t.Error(err)
	}
}
