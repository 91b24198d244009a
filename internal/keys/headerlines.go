package keys

import (
	"slices"
	"strings"

	"sluice/internal/syntax"
)

// HeaderLine is a header with its value. An empty value removes the header.
type HeaderLine struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// ResponseHeaders are headers for responses, in the order of their lines.
type ResponseHeaders []HeaderLine

// FramesResponse reports whether a header frames a response or controls its connection, or
// is one that nginx writes itself. Another value would break responses or repeat the header.
func FramesResponse(name string) bool {
	return slices.Contains(framing, strings.ToLower(name))
}

var framing = []string{"connection", "content-length", "date", "keep-alive", "proxy-connection", "server", "te", "trailer", "transfer-encoding", "upgrade"}

// ofOthers are headers of responses that belong to something else, with the reason.
var ofOthers = map[string]string{
	"set-cookie":         "a cookie of nginx would replace those of the backend: cookie-flags changes their flags",
	"location":           "it belongs to redirects: proxy-redirect-from changes those of backends, and redirects makes new ones",
	"www-authenticate":   "it belongs to authentication",
	"proxy-authenticate": "it belongs to authentication",
	"content-encoding":   "it describes the body of the backend",
	"content-range":      "it describes the body of the backend",
}

// WrongResponseHeader returns the reason why a header of responses cannot be set or removed,
// "" if it can.
func WrongResponseHeader(name, value string) string {
	switch folded := strings.ToLower(name); {
	case !syntax.IsHeaderName(name, syntax.LongestHeaderName):
		return "want the name of a header, of at most 46 letters, digits, - and _"
	case folded == "server":
		return "nginx writes this header itself: the setting server-tokens turns it off"
	case FramesResponse(name):
		return "nginx writes this header itself"
	case ofOthers[folded] != "":
		return ofOthers[folded]
	case strings.HasPrefix(folded, "x-accel-"):
		return "by this header a backend commands nginx"
	case value == "" && folded == "content-type":
		return "without it browsers guess the type"
	}
	return ""
}

// UnmarshalText accepts lines such as "X-Frame-Options: DENY".
func (h *ResponseHeaders) UnmarshalText(text []byte) error {
	list, err := headerLines(text, func(line string, header HeaderLine) error {
		switch wrong := WrongResponseHeader(header.Name, header.Value); {
		case !syntax.IsHeaderName(header.Name, syntax.LongestHeaderName):
			return wrongLine(line, "%s, and a colon", wrong)
		case wrong != "":
			return wrongLine(line, "%s", wrong)
		case strings.Contains(header.Value, "$"):
			return wrongLine(line, "a value has no variables here, so no $")
		case !syntax.IsHeaderValue(header.Value) || len(header.Value) > syntax.LongestHeaderValue:
			return wrongLine(line, "want at most %d printable ASCII characters as the value", syntax.LongestHeaderValue)
		}
		return nil
	})
	*h = list
	return err
}

// headerLines reads lines of names and values, each name once.
func headerLines(text []byte, check func(line string, header HeaderLine) error) ([]HeaderLine, error) {
	var list []HeaderLine
	err := readLines(text, func(line string) error {
		name, value, _ := strings.Cut(line, ":")
		header := HeaderLine{strings.TrimSpace(name), strings.TrimSpace(value)}
		if !strings.Contains(line, ":") {
			header.Name = ""
		}
		if err := check(line, header); err != nil {
			return err
		}
		if slices.ContainsFunc(list, func(h HeaderLine) bool { return strings.EqualFold(h.Name, header.Name) }) {
			return wrongLine(line, "want each header once")
		}
		list = append(list, header)
		return nil
	})
	return list, err
}
