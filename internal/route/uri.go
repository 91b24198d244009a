package route

import (
	"errors"
	"strings"
)

// errURI is a request line that nginx answers with 400.
var errURI = errors.New("nginx refuses this URI")

// Normalize gives the path that nginx compares locations with: without query
// and fragment, percent-decoded once, slashes merged, dot segments resolved. It
// fails where nginx answers 400: not absolute, an escape that is not two
// hexadecimal digits, a NUL, ".." above the root, or, in the query too, a space
// or a control character that is not escaped.
// Source: ngx_http_parse_request_line and ngx_http_parse_complex_uri in nginx's
// src/http/ngx_http_parse.c (1.21.1 and later), with merge_slashes on.
func Normalize(uri string) (string, error) {
	if !strings.HasPrefix(uri, "/") || strings.ContainsFunc(uri, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return "", errURI
	}
	if end := strings.IndexAny(uri, "?#"); end >= 0 {
		uri = uri[:end]
	}
	decoded, err := Decode(uri)
	if err != nil || strings.ContainsRune(decoded, 0) {
		return "", errURI
	}
	return resolve(decoded)
}

// Decode takes the percent escapes off a path, once. It fails for a "%" that
// two hexadecimal digits do not follow.
func Decode(path string) (string, error) {
	if !strings.Contains(path, "%") {
		return path, nil
	}
	var out strings.Builder
	for i := 0; i < len(path); i++ {
		if path[i] != '%' {
			out.WriteByte(path[i])
			continue
		}
		if i+2 >= len(path) {
			return "", errURI
		}
		high, ok1 := hexDigit(path[i+1])
		low, ok2 := hexDigit(path[i+2])
		if !ok1 || !ok2 {
			return "", errURI
		}
		out.WriteByte(high<<4 | low)
		i += 2
	}
	return out.String(), nil
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// resolve merges slashes and takes "." and ".." segments out of a path.
func resolve(path string) (string, error) {
	segments := strings.Split(path[1:], "/")
	var kept []string
	for i, segment := range segments {
		final := i == len(segments)-1
		switch segment {
		case "":
			if final {
				kept = append(kept, "")
			}
		case ".":
			if final {
				kept = append(kept, "")
			}
		case "..":
			if len(kept) == 0 {
				return "", errURI
			}
			kept = kept[:len(kept)-1]
			if final {
				kept = append(kept, "")
			}
		default:
			kept = append(kept, segment)
		}
	}
	return "/" + strings.Join(kept, "/"), nil
}
