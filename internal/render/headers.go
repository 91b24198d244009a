package render

import (
	"bytes"
	"strconv"
	"strings"

	"sluice/internal/syntax"
)

// joinedView are the headers for backends as lines of the header Host, as nginx makes one
// header for less than many.
type joinedView struct {
	// HTTP and HTTPS follow from the scheme. All are the lines that each request has,
	// with $scheme_headers and, at its end, $rare_headers.
	HTTP, HTTPS, All []string
}

// joined returns nil if a header may be without a value, or if a setting chooses its
// variable.
func (r *rendering) joined() *joinedView {
	f := r.view.Forwarded
	if !f.OwnPorts || f.SentFor != "http_x_forwarded_for" || f.SentHost != "http_x_forwarded_host" ||
		r.global.Keepalive.Connections == 0 || !r.global.Headers.GenerateRequestID {
		return nil
	}
	all := []string{"$best_http_host", "X-Real-IP: $remote_addr", "X-Forwarded-For: $remote_addr", "X-Forwarded-Host: $best_http_host", "$scheme_headers"}
	if f.OriginalURI {
		all = append(all, "X-Original-URI: $request_uri")
	}
	return &joinedView{
		HTTP:  schemeHeaders("http", f.HTTPPort),
		HTTPS: schemeHeaders("https", usualHTTPSPort),
		All:   append(all, "X-Request-ID: $req_id", r.view.Hops.Header+": $hops$rare_headers"),
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
