package compare

import (
	"regexp"
	"strings"
)

// plainHost is a host that curl sends as it is in the URL.
var plainHost = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*[a-z0-9]$`)

// curl returns the command that sends a request to an address.
func curl(r Request, address string) string {
	if address == "" {
		return ""
	}
	arguments := []string{"curl", "-sSi", "-g", "--http1.1", "--path-as-is", "--noproxy", "'*'"}
	if r.Scheme == "https" {
		arguments = append(arguments, "-k")
	}
	switch r.Method {
	case "GET":
	case "HEAD":
		arguments = append(arguments, "-I")
	default:
		arguments = append(arguments, "-X", quoted(r.Method))
	}
	host := r.Host
	if !plainHost.MatchString(host) {
		arguments = append(arguments, "-H", quoted("Host: "+host))
		host = ServerName(host)
	}
	for _, h := range r.Headers {
		arguments = append(arguments, "-H", quoted(h.Name+": "+h.Value))
	}
	if strings.Contains(r.Target, "#") {
		arguments = append(arguments, "--request-target", quoted(r.Target))
	}
	arguments = append(arguments, "--connect-to", quoted("::"+address), quoted(r.Scheme+"://"+host+r.Target))
	return strings.Join(arguments, " ")
}

// ServerName returns the name that a client sends by SNI for a Host header: in lower case,
// without port and final dot.
func ServerName(host string) string {
	name := strings.ToLower(host)
	if at := strings.LastIndexByte(name, ':'); at > strings.LastIndexByte(name, ']') {
		name = name[:at]
	}
	return strings.TrimSuffix(name, ".")
}

// quoted quotes a text for the shell.
func quoted(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
