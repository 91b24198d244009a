package chart

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"sluice/internal/keys"
	"sluice/internal/lint"
	"sluice/internal/manifest/decode"
	"sluice/internal/settings"
	"sluice/internal/snapshot"
	"sluice/test/chart/rendering"
)

// TestWhatWouldServeNothingIsRefused: an installation by which every path answers
// 503, or no pod starts, fails before it is there.
func TestWhatWouldServeNothingIsRefused(t *testing.T) {
	t.Parallel()
	for values, says := range map[string]string{
		"controller: {config: {block-cidrs: bogus, Force-Ssl-Redirect: \"yes\", proxy-body-size: 8m}}":          "controller.config: these settings would keep requests out, and every path would answer 503:\n- block-cidrs: want IP addresses and networks separated by commas, such as \"10.0.0.0/8, 2001:db8::/32\" (got \"bogus\")\n- force-ssl-redirect: want \"true\" or \"false\" (got \"yes\")\nMend them, leave them out, or accept that by controller.acceptUnsupported: [block-cidrs, force-ssl-redirect].",
		"controller: {acceptUnsupported: [block-cidrs], config: {block-cidrs: a, force-ssl-redirect: \"yes\"}}": "503:\n- force-ssl-redirect: want \"true\" or \"false\" (got \"yes\")\nMend",
		"controller: {config: {Whitelist-Source-Ranges: 192.0.2.0/24}}":                                         "503:\n- whitelist-source-ranges: no setting has this name; did you mean \"whitelist-source-range\"?\nMend",
		"controller: {config: {whitelist-source-range: bogus}}":                                                 "503:\n- whitelist-source-range: want IP addresses and networks separated by commas, such as \"10.0.0.0/8, 2001:db8::/32\" (got \"bogus\")\nMend",
		"controller: {config: {force-ssl-redirect: \"yes\"}}":                                                   "503:\n- force-ssl-redirect: want \"true\" or \"false\" (got \"yes\")\nMend",
		"controller: {configMapNamespace: foo, config: {whitelist-source-range: 10.0.0.0/8}}":                   "controller.config: Sluice would not read these settings: they are written into the ConfigMap sluice/sluice-controller, and --configmap names \"foo/sluice-controller\". Leave out",
		"controller: {extraArgs: {configmap: foo/bar}, config: {whitelist-source-range: 10.0.0.0/8}}":           "into the ConfigMap sluice/sluice-controller, and --configmap names \"foo/bar\". Leave out",
		"controller: {extraArgs: {configmap: \"\"}, config: {proxy-body-size: 8m}}":                             "into the ConfigMap sluice/sluice-controller, and --configmap names \"\". Leave out",
		"controller: {config: {denylist-source-range: \"2001:db8::1::2\"}}":                                     "(got \"2001:db8::1::2\")",
		"controller: {image: {repository: \"\"}}":                                                               "controller.image.repository: want the repository of Sluice's image",
		"controller: {image: {registry: \"\", tag: v1}}":                                                        "controller.image.repository: want the repository of Sluice's image",
	} {
		if _, err := rendering.Default().Render(values); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: got %v", values, err)
		}
	}
	for _, values := range []string{
		"controller: {acceptUnsupported: [Block-Cidrs], config: {block-cidrs: bogus}}",
		"controller: {config: {enable-modsecurity: false, block-cidrs: \"\"}}",
		"controller: {acceptUnsupported: [whitelist-source-ranges, force-ssl-redirect], config: {whitelist-source-ranges: a, Force-Ssl-Redirect: \"yes\"}}",
		"controller: {config: {Whitelist-Source-Range: \"10.0.0.0/8, {{ .Values.global.office }}\", force-ssl-redirect: true}}\nglobal: {office: \"2001:db8::/32\"}",
		"controller: {configMapNamespace: foo, extraArgs: {configmap: foo/bar}, config: {whitelist-source-range: null}}",
		"{namespaceOverride: edge, controller: {configMapNamespace: edge, config: {whitelist-source-range: 10.0.0.0/8}}}",
		"controller: {extraArgs: {configmap: $(POD_NAMESPACE)/sluice-controller}, config: {whitelist-source-range: 10.0.0.0/8}}",
		"controller: {image: {registry: registry.example}}",
		"global: {image: {registry: registry.example}}",
	} {
		if _, err := rendering.Default().Render(values); err != nil {
			t.Errorf("%s: %v", values, err)
		}
	}
}

// TestStateVolumeIsBounded: the files that Sluice keeps cannot fill the disk of the
// node.
func TestStateVolumeIsBounded(t *testing.T) {
	t.Parallel()
	for values, want := range map[string]string{
		"{}":                                 "emptyDir:\n          sizeLimit: \"1Gi\"\n",
		"controller: {stateSizeLimit: 2Gi}":  "emptyDir:\n          sizeLimit: \"2Gi\"\n",
		"controller: {stateSizeLimit: \"\"}": "emptyDir: {}\n",
	} {
		if manifests := render(t, values).Manifests; !strings.Contains(manifests, want) {
			t.Errorf("%s: want %q", values, want)
		}
	}
}

// TestFoldersToWrite: nginx can write to /tmp and a folder for caches, with a limit each, unless
// the values have a volume there; and lint knows the folders of the chart.
func TestFoldersToWrite(t *testing.T) {
	t.Parallel()
	for values, want := range map[string]string{
		"{}": "/tmp=256Mi /var/cache/nginx=1Gi /var/lib/sluice=1Gi",
		"controller: {cacheSizeLimit: 5Gi, tmpSizeLimit: \"\"}":                                                                                                       "/tmp=0 /var/cache/nginx=5Gi /var/lib/sluice=1Gi",
		"controller: {extraVolumes: [{name: tmp, emptyDir: {}}], extraVolumeMounts: [{name: tmp, mountPath: /tmp/}]}":                                                 "/tmp=0 /var/cache/nginx=1Gi /var/lib/sluice=1Gi",
		"{controller: {kind: DaemonSet, extraVolumes: [{name: cache, emptyDir: {sizeLimit: 9Gi}}], extraVolumeMounts: [{name: cache, mountPath: /var/cache/nginx}]}}": "/tmp=256Mi /var/cache/nginx=9Gi /var/lib/sluice=1Gi",
		"controller: {extraVolumes: [{name: cache, emptyDir: {sizeLimit: 9Gi}}], extraVolumeMounts: [{name: cache, mountPath: /var/cache/}]}":                         "/tmp=256Mi /var/cache=9Gi /var/lib/sluice=1Gi",
	} {
		_, notes, err := decode.FromYAML("", []byte(render(t, values).Manifests))
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(notes, func(n snapshot.Note) bool { return n.IsSluice })
		var got []string
		for _, f := range notes[at].Folders {
			got = append(got, f.Path+"="+resource.NewQuantity(f.Limit, resource.BinarySI).String())
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %v", values, got)
		}
		if values != "{}" {
			continue
		}
		byPath := func(a, b snapshot.Folder) int { return strings.Compare(a.Path, b.Path) }
		if diff := cmp.Diff(slices.SortedFunc(slices.Values(lint.ChartFolders), byPath), slices.SortedFunc(slices.Values(notes[at].Folders), byPath)); diff != "" {
			t.Errorf("lint knows others (-lint +chart):\n%s", diff)
		}
	}
}

// deniedByChart are the settings that the chart refuses, each with the reason.
func deniedByChart(t *testing.T, config map[string]any) map[string]string {
	t.Helper()
	denied := map[string]string{}
	_, err := rendering.Default().RenderValues(map[string]any{"controller": map[string]any{"config": config}})
	if err == nil {
		return denied
	}
	_, list, found := strings.Cut(err.Error(), "every path would answer 503:\n- ")
	list, _, ends := strings.Cut(list, "\nMend them")
	if !found || !ends {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(list, "\n- ") {
		key, reason, _ := strings.Cut(line, ": ")
		denied[key] = reason
	}
	return denied
}

// deniedBySluice are those by which Sluice answers 503 everywhere.
func deniedBySluice(config map[string]any) map[string]string {
	denied := map[string]string{}
	for key, value := range config {
		_, problems := settings.Read(&corev1.ConfigMap{Data: map[string]string{key: value.(string)}})
		for _, p := range problems {
			if p.Denies {
				denied[p.Field] = strings.TrimSuffix(p.Text, "; its paths answer 503 until this is mended")
			}
		}
	}
	return denied
}

// TestSettingsCloseAsInSluice: the chart refuses the settings by which Sluice answers
// 503 everywhere, and no other ones, whatever they are called and say. Sluice may also name
// the line of a text.
func TestSettingsCloseAsInSluice(t *testing.T) {
	t.Parallel()
	var all, near []string
	for _, doc := range keys.Describe(settings.Settings{}) {
		all = append(all, doc.Key)
		if doc.Protects || doc.Closes {
			near = append(near, doc.Key)
		}
	}
	for _, k := range settings.Unsupported() {
		all = append(all, k.Key)
		if k.Fate == keys.Denied {
			near = append(near, k.Key)
		}
	}
	// What is almost the name of one that protects, and what others say for it.
	misspelled := []string{"allowlist-source-range", "allow-list-source-range", "deny-source-range", "auth-url", "proxy-bodysize", "ssl-redirects", "x"}
	for _, key := range near {
		misspelled = append(misspelled, key+"s", key+"-list", strings.ReplaceAll(key, "-", "_")+"x", key[:2]+key[3:], key[:4]+key[5:6]+key[4:5]+key[6:])
	}
	for names, values := range map[*[]string][]string{
		&all: {"", " ", "true", "T", "FALSE", "no", "oFf", "yes", "192.0.2.1", "10.0.0.0/8 , 2001:db8::/32", "::ffff:192.0.2.1", "::/0,1.2.3.4/0", "10.0.0.0/33", "10.0.0.0/08",
			"10.0.0.256", "01.2.3.4", "1.2.3.4,", ",", "1.2.3.4;5.6.7.8", "1.2.3.4 5.6.7.8", "bogus", "fe80::1%eth0", "fe80::1/129", strings.Repeat("é", 120),
			"2001:db8::1::2", "1:2:3:4:5:6:7:8:9", ":::", "12345::", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7::", "1::2, ::1:2:3:4:5:6:7/64", "::1:2:3:4:5:6:7:8", "::ffff:1.2.3.4/100", "1.2.3.4::"},
		&misspelled: {"", "x", "False", "no"},
	} {
		for _, value := range values {
			config := map[string]any{}
			for _, name := range *names {
				config[name] = value
			}
			want, got := deniedBySluice(config), deniedByChart(t, config)
			if gone, more := slices.Sorted(mapKeys(want)), slices.Sorted(mapKeys(got)); !slices.Equal(gone, more) {
				t.Errorf("%q: Sluice answers 503 by %q, and the chart refuses %q", value, gone, more)
			}
			for key, reason := range got {
				if yet := strings.HasSuffix(reason, "does not read it yet"); !yet && reason != want[key] && !strings.HasPrefix(want[key], reason+": line ") && want[key] != reason+": it has no item" {
					t.Errorf("%s: %q: the chart says %q, and Sluice %q", key, value, reason, want[key])
				}
			}
		}
	}
	if got := deniedByChart(t, map[string]any{"whitelist-source-range": "255.255.255.255, ::ffff:255.255.255.255/128"}); len(got) > 0 {
		t.Errorf("the chart refuses what only Sluice looks at: %q", got)
	}
}

// TestAddressesAreThoseOfSluice: the pattern for lists of addresses takes each number
// of groups, with and without "::" and IPv4 at the end, that Sluice takes, and no other.
func TestAddressesAreThoseOfSluice(t *testing.T) {
	t.Parallel()
	pattern := regexp.MustCompile(strings.ReplaceAll(validPatterns["cidr list"], "ADDRESS", network()))
	taken := 0
	for before := range 10 {
		for after := range 10 {
			for _, joint := range []string{"", ":", "::", ":::"} {
				for _, end := range []string{"", "1.2.3.4", "1.2.3.04", ":1.2.3.4", "::1.2.3.4", "/128"} {
					text := strings.TrimSuffix(strings.Repeat("a:", before), ":") + joint + strings.TrimSuffix(strings.Repeat("b:", after), ":") + end
					var list keys.CIDRs
					err := list.UnmarshalText([]byte(text))
					if takes := pattern.MatchString(text); text != "" && takes != (err == nil) {
						t.Errorf("%s: the pattern takes it: %v, and Sluice says %v", text, takes, err)
					}
					if err == nil {
						taken++
					}
				}
			}
		}
	}
	if taken < 100 {
		t.Errorf("only %d of the texts are addresses", taken)
	}
}
