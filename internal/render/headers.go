package render

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"sluice/internal/syntax"
)

// joinedView are the headers for backends as lines of the header Host, as nginx makes one
// header for less than many.
type joinedView struct {
	// HTTP and HTTPS follow from the scheme. All are the lines that each request has,
	// with $further_headers at its end: PlainHTTP or PlainHTTPS, or Further if the client
	// sent a header whose variable is in Rare. The last variable of Rare is the scheme:
	// no header can make the values of another scheme of it.
	HTTP, HTTPS, All, PlainHTTP, PlainHTTPS, Further, Rare []string
}

// joined returns nil if a header may be without a value, or if a setting chooses its
// variable or replaces it.
func (r *rendering) joined() *joinedView {
	f, hops := r.view.Forwarded, r.view.Hops
	if len(r.replaced) > 0 || !f.OwnPorts || f.SentFor != "http_x_forwarded_for" || f.SentHost != "http_x_forwarded_host" ||
		r.global.TLS.EarlyData || r.global.Keepalive.Connections == 0 || !r.global.Headers.GenerateRequestID {
		return nil
	}
	all := []string{"$best_http_host", "X-Real-IP: $remote_addr", "X-Forwarded-For: $remote_addr", "X-Forwarded-Host: $best_http_host"}
	if f.OriginalURI {
		all = append(all, "X-Original-URI: $request_uri")
	}
	http, https := schemeHeaders("http", f.HTTPPort), schemeHeaders("https", usualHTTPSPort)
	plain := []string{"X-Request-ID: $request_id", hops.Header + ": 1"}
	return &joinedView{
		HTTP: http, HTTPS: https, All: append(all, "$further_headers"),
		PlainHTTP: slices.Concat(http, plain), PlainHTTPS: slices.Concat(https, plain),
		Further: []string{"$scheme_headers", "X-Request-ID: $req_id", hops.Header + ": $hops$upgrade_headers$sent_for_header$sent_host_header"},
		Rare:    []string{"http_upgrade", f.SentFor, f.SentHost, "http_x_request_id", hops.Variable, "scheme"},
	}
}

func schemeHeaders(scheme string, port int) []string {
	return []string{"X-Forwarded-Port: " + strconv.Itoa(port), "X-Forwarded-Proto: " + scheme, "X-Forwarded-Scheme: " + scheme, "X-Scheme: " + scheme}
}

// unjoined returns the text of the http level with a directive for each header, as in
// separate. A block that repeats them can then replace one header.
func unjoined(http, separate []byte) []byte {
	spelled := map[string]string{}
	for _, s := range inheritables(separate) {
		spelled[s.header] = s.text
	}
	var out bytes.Buffer
	done := 0
	syntax.Directives(http, func(d syntax.Directive) {
		if text, ok := spelled[strings.ToLower(d.Arg)]; ok && d.Depth == 0 && d.Name == setHeader {
			out.Write(http[done:d.Start])
			out.WriteString(text)
			done = d.End
			delete(spelled, strings.ToLower(d.Arg))
		}
	})
	out.Write(http[done:])
	return out.Bytes()
}

// withJoined adds to the directives of separate headers the texts of the same directives if the
// headers are joined. It returns how many have another text then.
func withJoined(separate, joined []inheritable) (both []inheritable, differing int) {
	for i := range separate {
		if separate[i].text != joined[i].text {
			separate[i].joined = joined[i].text
			differing++
		}
	}
	return separate, differing
}

// textsOf returns the directives that a block repeats. The headers are joined, unless the block
// replaces one of the joined ones: a backend would get that one twice.
func (r *rendering) textsOf(missing []inheritable) []string {
	joined := 0
	for _, m := range missing {
		if m.joined != "" {
			joined++
		}
	}
	var texts []string
	for _, m := range missing {
		if joined == r.joinedHeaders && m.joined != "" {
			m.text = m.joined
		}
		texts = append(texts, m.text)
	}
	return texts
}
