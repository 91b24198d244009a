package chart

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sluice/internal/keys"
	"sluice/internal/settings"
)

// settingsHeader is what settings.yaml begins with.
const settingsHeader = `# The settings that controller.config may have, for the notes; ` + "`make golden`" + ` writes them
# from what Sluice knows. docs/reference/configmap.md says what each does.

# Those that Sluice reads.
read:
`

// TestSettingsAreFresh: charts/sluice/settings.yaml is what Sluice reads, and what it
// knows and does not read.
func TestSettingsAreFresh(t *testing.T) {
	// It is not parallel: where it is written anew, the others go by the new one.
	var text strings.Builder
	text.WriteString(settingsHeader)
	var names []string
	for _, doc := range keys.Describe(settings.Settings{}) {
		names = append(append(names, doc.Key), doc.Aliases...)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&text, "  - %s\n", name)
	}
	unread := map[keys.Fate]string{}
	for _, k := range settings.Unsupported() {
		switch {
		case k.Fate != keys.Denied:
			unread[k.Fate] += fmt.Sprintf("  - %s\n", k.Key)
		default:
			unread[k.Fate] += fmt.Sprintf("  %s: [\"%s\"]\n", k.Key, strings.Join(k.Off, `", "`))
		}
	}
	text.WriteString("# Those of ingress-nginx that it does not read yet.\nunread:\n" + unread[keys.Reported])
	text.WriteString("# Those that have no effect in ingress-nginx either.\nidle:\n" + unread[keys.Idle])
	text.WriteString("# Those that it does not read yet and that keep requests out: with any value but these,\n# every path answers 503.\nprotecting:\n" + unread[keys.Denied])
	fresh(t, "charts/sluice/settings.yaml", text.String())
}

// TestNotesTellOfSettings: settings that Sluice does not read are named after the
// installation, and first those by which nothing is served.
func TestNotesTellOfSettings(t *testing.T) {
	t.Parallel()
	for values, says := range map[string]string{
		"{brotli-level: 4, hide-headers: a}":                     "controller.config: Sluice does not read brotli-level, hide-headers yet",
		"{block-cidrs: 192.0.2.0/24, Enable-Modsecurity: true}":  "controller.config: every path answers 503, as Sluice does not read block-cidrs, enable-modsecurity yet",
		"{enable-modsecurity: false, block-cidrs: \" \"}":        "controller.config: Sluice does not read block-cidrs, enable-modsecurity yet",
		"{block-cidrs: \"{{ .Release.Name }}\"}":                 "controller.config: every path answers 503, as Sluice does not read block-cidrs yet",
		"{proxy-bodysize: 8m, proxy-body-size: 8m}":              "controller.config: neither Sluice nor ingress-nginx has proxy-bodysize",
		"{use-geoip: true, jaeger-endpoint: http://a.example/b}": "controller.config: without effect, as in ingress-nginx: jaeger-endpoint, use-geoip.",
	} {
		notes := render(t, "controller: {config: "+values+"}").Notes
		_, told, _ := strings.Cut(notes, "do less than you may expect:")
		if !strings.Contains(told, says) {
			t.Errorf("%s: the notes do not say %q:\n%s", values, says, notes)
		}
		if lines := strings.Count(told, "\n- "); lines != 1 {
			t.Errorf("%s: the notes say %d things, want one:\n%s", values, lines, told)
		}
	}
	for _, values := range []string{"{}", "{proxy-body-size: 8m, Use-Forwarded-Headers: true}", "{brotli-level: null, nonsense: null, block-cidrs: null}"} {
		if notes := render(t, "controller: {config: "+values+"}").Notes; strings.Contains(notes, "controller.config") {
			t.Errorf("%s: the notes warn:\n%s", values, notes)
		}
	}
}
