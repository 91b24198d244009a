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
		"{Http2-Max-Requests: 9, enable-aio-write: \"\", use-geoip2: true}":                      "controller.config.http2-max-requests: without effect: keep-alive-requests limits the requests of a connection of HTTP/2 too.",
		"{force-ssl-redirect: \"{{ .Release.Name }}\"}, acceptUnsupported: [force-ssl-redirect]": "controller.config.force-ssl-redirect: every path answers 503 (want \"true\" or \"false\" (got \"sluice\")).",
		"{proxy-bodysize: 8m, proxy-body-size: 8m}":                                              "controller.config.proxy-bodysize: neither Sluice nor ingress-nginx has this setting; did you mean \"proxy-body-size\"?",
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
	for _, values := range []string{"{}", "{proxy-body-size: 8m, Use-Forwarded-Headers: true}", "{http2-max-requests: null, nonsense: null, block-cidrs: null}",
		"{enable-modsecurity: off, block-cidrs: \" \"}", "{Enable-Modsecurity: \"No\", enable-brotli: false, limit-rate: 0, load-balance: Round_Robin, hide-headers: \"\", allow-snippet-annotations: \"false\"}"} {
		if notes := render(t, "controller: {config: "+values+"}").Notes; strings.Contains(notes, "controller.config") {
			t.Errorf("%s: the notes warn:\n%s", values, notes)
		}
	}
}
