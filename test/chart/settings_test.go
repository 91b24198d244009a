package chart

import (
	"strings"
	"testing"
)

// TestNotesTellOfSettings: settings that Sluice does not read are named after the
// installation, and first those by which nothing is served.
func TestNotesTellOfSettings(t *testing.T) {
	t.Parallel()
	for values, says := range map[string]string{
		"{brotli-level: 4, ssl-dh-param: a}": "controller.config: Sluice does not read brotli-level, ssl-dh-param yet",
		"{http-snippet: 192.0.2.0/24, Main-Snippet: bot}, acceptUnsupported: [http-snippet, Main-Snippet]": "controller.config.http-snippet: every path answers 503 (Sluice does not read it yet).\n- controller.config.main-snippet: every path answers 503 (Sluice does not read it yet).\n",
		"{enable-brotli: true, Enable-OCSP: \" Off\", limit-rate: 0, use-geoip2: \"true\"}":                        "controller.config: Sluice does not read enable-brotli, use-geoip2 yet.",
		"{http-snippet: \"{{ .Release.Name }}\"}, acceptUnsupported: [http-snippet]":                                 "controller.config.http-snippet: every path answers 503 (Sluice does not read it yet).",
		"{proxy-bodysize: 8m, proxy-body-size: 8m}":                                                                "controller.config.proxy-bodysize: neither Sluice nor ingress-nginx has this setting; did you mean \"proxy-body-size\"?",
		"{nonsense: 1}": "controller.config.nonsense: neither Sluice nor ingress-nginx has this setting.",
		"{Whitelist-Source-Ranges: a}, acceptUnsupported: [Whitelist-Source-Ranges]": "controller.config.whitelist-source-ranges: every path answers 503 (no setting has this name; did you mean \"whitelist-source-range\"?).",
		"{use-geoip: true, jaeger-endpoint: http://a.example/b}":                     "controller.config: without effect, as in ingress-nginx: jaeger-endpoint, use-geoip.",
	} {
		notes := render(t, "controller: {config: "+values+"}").Notes
		_, told, _ := strings.Cut(notes, "do less than you may expect:")
		if !strings.Contains(told, says) {
			t.Errorf("%s: the notes do not say %q:\n%s", values, says, notes)
		}
		if lines, want := strings.Count(told, "\n- "), 1+strings.Count(says, "\n- "); lines != want {
			t.Errorf("%s: the notes say %d things, want %d:\n%s", values, lines, want, told)
		}
	}
	for _, values := range []string{"{}", "{proxy-body-size: 8m, Use-Forwarded-Headers: true}", "{brotli-level: null, nonsense: null, block-cidrs: null}",
		"{enable-modsecurity: off, block-cidrs: \" \"}", "{Enable-Modsecurity: \"No\", enable-brotli: false, limit-rate: 0, load-balance: Round_Robin, hide-headers: \"\", allow-snippet-annotations: \"false\"}"} {
		if notes := render(t, "controller: {config: "+values+"}").Notes; strings.Contains(notes, "controller.config") {
			t.Errorf("%s: the notes warn:\n%s", values, notes)
		}
	}
}
