package route

import (
	"errors"
	"strings"
)

// Why nginx answers a Host header with 400.
var (
	errHostBytes = errors.New("a space, a / or a control character stands in the host")
	errHostDots  = errors.New("two dots stand side by side in the host")
	errHostEmpty = errors.New("the host has no name before its port or its dot")
)

// HostName returns the name by which nginx finds a server, which is its $host:
// without port and final dot, in lower case. A missing Host header stays empty. It
// returns an error if nginx answers 400: for control characters, spaces and slashes,
// two dots, or nothing but a port or a dot. Source: ngx_http_validate_host in nginx's
// src/http/ngx_http_request.c.
func HostName(host string) (string, error) {
	if host == "" {
		return "", nil
	}
	if strings.ContainsFunc(host, func(r rune) bool { return r <= ' ' || r == '/' || r == 0x7f }) {
		return "", errHostBytes
	}
	if strings.Contains(host, "..") {
		return "", errHostDots
	}
	name := withoutPort(host)
	if strings.LastIndexByte(host, '.') == len(name)-1 {
		name = strings.TrimSuffix(name, ".")
	}
	if name == "" {
		return "", errHostEmpty
	}
	return Lower(name), nil
}

// withoutPort removes the text from the first colon on, in an IPv6 address the first
// colon after its bracket.
func withoutPort(host string) string {
	if host[0] == '[' {
		if end := strings.IndexByte(host, ']'); end >= 0 {
			return host[:end+1]
		}
		return host
	}
	name, _, _ := strings.Cut(host, ":")
	return name
}

// Lower converts ASCII letters only, as nginx and PCRE2 do: strings.ToLower would also turn
// the Kelvin sign into "k".
func Lower(name string) string {
	out := []byte(name)
	for i, c := range out {
		if c >= 'A' && c <= 'Z' {
			out[i] = c + 'a' - 'A'
		}
	}
	return string(out)
}
