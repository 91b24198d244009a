package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// krewPlugin has the fields that krew reads; it refuses others.
type krewPlugin struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Version          string         `json:"version"`
		Homepage         string         `json:"homepage"`
		ShortDescription string         `json:"shortDescription"`
		Description      string         `json:"description"`
		Caveats          string         `json:"caveats"`
		Platforms        []krewPlatform `json:"platforms"`
	} `json:"spec"`
}

type krewPlatform struct {
	Selector struct {
		MatchLabels map[string]string `json:"matchLabels"`
	} `json:"selector"`
	URI    string              `json:"uri"`
	SHA256 string              `json:"sha256"`
	Files  []map[string]string `json:"files"`
	Bin    string              `json:"bin"`
}

// The rules of krew's own validation, and of its index. Of a semantic version, an
// identifier after the "-" that is a number has no zero before it.
// Source: https://semver.org
const (
	number     = `(0|[1-9]\d*)`
	identifier = `(0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)`
)

var (
	krewName    = regexp.MustCompile(`^[\w-]+$`)
	krewVersion = regexp.MustCompile(`^v` + number + `\.` + number + `\.` + number + `(-` + identifier + `(\.` + identifier + `)*)?$`)
	krewSum     = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// wrongs says what krew would refuse.
func (k krewPlugin) wrongs() []string {
	var found []string
	want := func(holds bool, format string, arguments ...any) {
		if !holds {
			found = append(found, fmt.Sprintf(format, arguments...))
		}
	}
	want(k.APIVersion == "krew.googlecontainertools.github.com/v1alpha2", "apiVersion is %q", k.APIVersion)
	want(k.Kind == "Plugin", "kind is %q", k.Kind)
	want(krewName.MatchString(k.Metadata.Name), "the name is %q", k.Metadata.Name)
	want(krewVersion.MatchString(k.Spec.Version), "the version is %q", k.Spec.Version)
	want(strings.HasPrefix(k.Spec.Homepage, "https://"), "the homepage is %q", k.Spec.Homepage)
	want(k.Spec.ShortDescription != "" && len(k.Spec.ShortDescription) <= 80 && !strings.HasSuffix(k.Spec.ShortDescription, "."), "the short description is %q", k.Spec.ShortDescription)
	want(k.Spec.Description != "", "there is no description")
	want(len(k.Spec.Platforms) > 0, "there are no platforms")
	for _, p := range k.Spec.Platforms {
		of := p.Selector.MatchLabels["os"] + "/" + p.Selector.MatchLabels["arch"]
		want(krewSum.MatchString(p.SHA256), "%s: the checksum is %q", of, p.SHA256)
		want(strings.HasPrefix(p.URI, "https://") && strings.HasSuffix(p.URI, ".tar.gz"), "%s: the URI is %q", of, p.URI)
		want(strings.HasSuffix(p.Bin, ".exe") == strings.HasPrefix(of, "windows/"), "%s: the program is %q", of, p.Bin)
		want(len(p.Files) > 0 && p.Files[0]["from"] == p.Bin, "%s: the files are %v", of, p.Files)
	}
	return found
}

// fill runs krew.sh on a folder.
func fill(t *testing.T, folder, version string) (krewPlugin, string, error) {
	t.Helper()
	return fillFrom(t, folder, version, "https://downloads.example/x/", "https://home.example")
}

func fillFrom(t *testing.T, arguments ...string) (krewPlugin, string, error) {
	t.Helper()
	text, err := exec.Command("./krew.sh", arguments...).Output()
	var plugin krewPlugin
	if err == nil {
		if err := yaml.UnmarshalStrict(text, &plugin); err != nil {
			t.Fatal(err)
		}
	}
	return plugin, string(text), err
}

// platforms are those that are built.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// archives makes one for each platform.
func archives(t *testing.T, folder string) {
	t.Helper()
	for _, platform := range platforms {
		name := filepath.Join(folder, "kubectl-sluice_"+strings.ReplaceAll(platform, "/", "_")+".tar.gz")
		if err := os.WriteFile(name, []byte(platform), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestKrewManifest(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	archives(t, folder)
	for version, want := range map[string]string{"1.2.3": "v1.2.3", "v0.4.0-rc.1": "v0.4.0-rc.1", "47ea3cc-dirty": "v0.0.0-g47ea3cc-dirty", "0123456": "v0.0.0-g0123456"} {
		plugin, text, err := fill(t, folder, version)
		if err != nil {
			t.Fatal(err)
		}
		for _, wrong := range plugin.wrongs() {
			t.Error(wrong)
		}
		if plugin.Spec.Version != want || strings.Contains(text, "@") {
			t.Errorf("of %s it is\n%s", version, text)
		}
		var got []string
		for _, p := range plugin.Spec.Platforms {
			platform := p.Selector.MatchLabels["os"] + "/" + p.Selector.MatchLabels["arch"]
			got = append(got, platform)
			if sum := fmt.Sprintf("%x", sha256.Sum256([]byte(platform))); p.SHA256 != sum {
				t.Errorf("%s: the checksum is %s, not %s", platform, p.SHA256, sum)
			}
			if uri := "https://downloads.example/x/kubectl-sluice_" + strings.ReplaceAll(platform, "/", "_") + ".tar.gz"; p.URI != uri {
				t.Errorf("%s: the URI is %s, not %s", platform, p.URI, uri)
			}
		}
		if strings.Join(got, " ") != strings.Join(platforms, " ") {
			t.Errorf("the platforms are %q", got)
		}
	}
	if err := os.Remove(filepath.Join(folder, "kubectl-sluice_darwin_arm64.tar.gz")); err != nil {
		t.Fatal(err)
	}
	if _, text, err := fill(t, folder, "1.2.3"); err == nil {
		t.Errorf("with an archive missing it is\n%s", text)
	}
}

// TestKrewAddresses: an address is taken as it is, whatever sed and bash make of
// its characters.
func TestKrewAddresses(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	archives(t, folder)
	const downloads, home = `https://downloads.example/a|b&c\1~"d/`, `https://home.example/?a=1&b=2|3\n`
	plugin, text, err := fillFrom(t, folder, "1.2.3", downloads, home)
	if err != nil {
		t.Fatal(err)
	}
	if plugin.Spec.Homepage != home || len(plugin.Spec.Platforms) == 0 {
		t.Errorf("the homepage is %s, not %s:\n%s", plugin.Spec.Homepage, home, text)
	}
	for _, p := range plugin.Spec.Platforms {
		if !strings.HasPrefix(p.URI, downloads+"kubectl-sluice_") {
			t.Errorf("the URI is %s, not below %s", p.URI, downloads)
		}
	}
}

// TestKrewRulesRefuse: the rules above find something in a bad manifest.
func TestKrewRulesRefuse(t *testing.T) {
	t.Parallel()
	plugin := krewPlugin{}
	plugin.Spec.Platforms = []krewPlatform{{Bin: "x.exe"}}
	if got := len(plugin.wrongs()); got != 11 {
		t.Errorf("%d things are wrong with an empty manifest: %q", got, plugin.wrongs())
	}
}
