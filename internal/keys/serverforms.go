package keys

import (
	"regexp"
	"slices"
	"strings"

	"sluice/internal/syntax"
)

// form says with which arguments all Ingresses of a host may inherit a directive from a server
// snippet, and why with no others.
type form struct {
	valid func(arguments []string) bool
	why   string
}

// inSomeForms are the directives that paths of other namespaces inherit with some arguments only.
var inSomeForms = map[string]form{
	"large_client_header_buffers": {isHeaderBuffers, "decides which requests the other Ingresses of the host get, and what memory clients can take: want 4 to 8 buffers of 8k to 128k"},
	"client_header_buffer_size":   {isHeaderBuffer, "is memory of each connection: want 1k to 64k"},
	"error_page":                  {isErrorPage, "could admit clients that another Ingress of the host refuses: want codes among 404, 406 to 410, 412, 413, 415 to 417, 429, 500, 502 to 504, 506 and 507, without \"=\", and a path, a named location or a URL without variables"},
	// withoutNeedlessAllow has left out the one that may be there.
	"allow":                  {func([]string) bool { return false }, "could admit clients that another Ingress of the host refuses: want deny only, and allow all as the last rule, if any"},
	"proxy_intercept_errors": {func(arguments []string) bool { return slices.Equal(arguments, []string{"on"}) }, "may turn off error pages of the settings: want on"},
}

// The smallest sizes are nginx's defaults.
// Source: https://nginx.org/en/docs/http/ngx_http_core_module.html#large_client_header_buffers
const (
	leastHeader, mostHeader   = 1 << 10, 64 << 10
	leastHeaders, mostHeaders = 8 << 10, 128 << 10
)

func isHeaderBuffer(arguments []string) bool {
	var size Size
	return len(arguments) == 1 && size.UnmarshalText([]byte(arguments[0])) == nil && size.Bytes() >= leastHeader && size.Bytes() <= mostHeader
}

func isHeaderBuffers(arguments []string) bool {
	var buffers Buffers
	if buffers.UnmarshalText([]byte(strings.Join(arguments, " "))) != nil {
		return false
	}
	size := buffers.Size.Bytes()
	return buffers.Number >= 4 && buffers.Number <= 8 && size >= leastHeaders && size <= mostHeaders
}

// errorCode matches the codes that do not refuse access. 405, 411, 414, 501 and 505 are not among
// them: nginx answers them before it looks at the certificate of the client, and would pass the
// request on to the path of the page. Without "=", an error page does not change the code, so it
// cannot make a refusal of an authentication server an acceptance.
// Source: ngx_http_process_request_header in nginx's src/http/ngx_http_request.c
var (
	errorCode = regexp.MustCompile(`^(?:40[46-9]|41[023567]|429|50[023467])$`)
	errorPage = regexp.MustCompile(`^(?:/|@|https?://)[^$]*$`)
)

func isErrorPage(arguments []string) bool {
	if len(arguments) < 2 {
		return false
	}
	last := len(arguments) - 1
	return errorPage.MatchString(arguments[last]) && !slices.ContainsFunc(arguments[:last], func(code string) bool { return !errorCode.MatchString(code) })
}

// withoutNeedlessAllow leaves out a last "allow all" if all rules before it are deny. nginx
// allows what no rule denies, so it has no effect, except beside "satisfy any" of another Ingress
// of the host: there it would let everybody in.
// Source: https://nginx.org/en/docs/http/ngx_http_access_module.html
func withoutNeedlessAllow(text []byte) []byte {
	statements, err := syntax.Parse(text)
	if err != nil {
		return text
	}
	rules := slices.DeleteFunc(statements, func(s syntax.Statement) bool {
		return s.Depth > 0 || s.Name() != "allow" && s.Name() != "deny"
	})
	last := len(rules) - 1
	if last < 1 || !slices.Equal(rules[last].Tokens, []string{"allow", "all"}) ||
		slices.ContainsFunc(rules[:last], func(s syntax.Statement) bool { return s.Name() != "deny" }) {
		return text
	}
	return slices.Concat(text[:rules[last].Start], text[rules[last].End:])
}
