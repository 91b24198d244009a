package route

import (
	"encoding/hex"
	"errors"
	"strings"
)

// Why nginx answers a request line with 400.
var (
	errNotAbsolute = errors.New("the path does not begin with /")
	errControl     = errors.New("a space or a control character stands in the URI; %20 is a space")
	errEscape      = errors.New("a % without two hexadecimal digits behind it; %25 is a %")
	errNUL         = errors.New("%00 in the path")
	errAboveRoot   = errors.New(".. leads above the root")
)

// StepKind is a kind of change of a URI before nginx chooses a location.
type StepKind string

// The steps, in their order.
const (
	CutsQuery     StepKind = "CutsQuery"     // from the first "?" on
	CutsFragment  StepKind = "CutsFragment"  // from the first "#" on
	Decodes       StepKind = "Decodes"       // percent escapes, once
	MergesSlashes StepKind = "MergesSlashes" // "//" becomes "/"
	ResolvesDots  StepKind = "ResolvesDots"  // "." and ".." segments
)

// Step is one change of a URI, with the resulting path.
type Step struct {
	Kind StepKind `json:"kind"`
	Path string   `json:"path"`
}

// normalize returns the path that nginx compares with locations: without query and
// fragment, percent-decoded once, slashes merged, dot segments resolved. It also returns
// the steps that changed something. It returns an error if nginx answers 400: for a
// relative path, a space or a control character, an incomplete escape, a NUL, or ".."
// above the root. Source: ngx_http_parse_request_line and ngx_http_parse_complex_uri in
// nginx's src/http/ngx_http_parse.c, with merge_slashes on.
func normalize(uri string) (path string, steps []Step, err error) {
	if err := written(uri); err != nil {
		return "", nil, err
	}
	step := func(kind StepKind, after string) {
		if after != path {
			steps = append(steps, Step{kind, after})
		}
		path = after
	}
	path = uri
	if end := strings.IndexAny(uri, "?#"); end >= 0 {
		kind := CutsQuery
		if uri[end] == '#' {
			kind = CutsFragment
		}
		step(kind, uri[:end])
	}
	decoded, err := Decode(path)
	if err != nil {
		return "", steps, err
	}
	if strings.ContainsRune(decoded, 0) {
		return "", steps, errNUL
	}
	step(Decodes, decoded)
	step(MergesSlashes, mergeSlashes(decoded))
	resolved, err := resolve(path)
	if err != nil {
		return "", steps, err
	}
	step(ResolvesDots, resolved)
	return path, steps, nil
}

// written returns the error for characters of a URI that nginx rejects.
func written(uri string) error {
	if !strings.HasPrefix(uri, "/") {
		return errNotAbsolute
	}
	if strings.ContainsFunc(uri, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return errControl
	}
	return nil
}

func mergeSlashes(path string) string {
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	return path
}

// Decode decodes percent escapes once. It fails for a "%" without two hexadecimal
// digits.
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
		decoded, err := hex.DecodeString(path[i+1 : min(i+3, len(path))])
		if err != nil || len(decoded) == 0 {
			return "", errEscape
		}
		out.WriteByte(decoded[0])
		i += 2
	}
	return out.String(), nil
}

// resolve removes "." and ".." segments from a path whose slashes are merged.
func resolve(path string) (string, error) {
	segments := strings.Split(path[1:], "/")
	var kept []string
	for i, segment := range segments {
		final := i == len(segments)-1
		switch segment {
		case "", ".":
			if final {
				kept = append(kept, "")
			}
		case "..":
			if len(kept) == 0 {
				return "", errAboveRoot
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
