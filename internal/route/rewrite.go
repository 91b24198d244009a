package route

import (
	"slices"
	"strings"

	"sluice/internal/model"
	"sluice/internal/pcre"
)

// Rewritten gives the URI that nginx goes on with after a rewrite, from the path
// as Normalize gives it: the path itself where the pattern does not match,
// otherwise the target with what $1 to $9 and the named groups captured. Other
// variables stay as they are written. The arguments of the request, which nginx
// adds unless the target ends in "?", are left out.
//
// ok is false where only nginx can tell: of some patterns, and where captures
// are escaped if the request was, which the path does not show.
func Rewritten(r *model.Rewrite, path string) (target string, ok bool) {
	pattern, err := pcre.Compile(r.Pattern, 0)
	if err != nil {
		return "", false
	}
	groups, matches, err := pattern.Match(path)
	if err != nil {
		return "", false
	}
	if !matches {
		return path, true
	}
	c := captures{path: path, groups: groups, names: pattern.GroupNames(), redirects: redirects(r.Target)}
	return c.fill(strings.TrimSuffix(r.Target, "?"))
}

// redirects reports whether nginx answers a rewrite with a redirect.
func redirects(target string) bool {
	return slices.ContainsFunc([]string{"http://", "https://", "$scheme"}, func(start string) bool { return strings.HasPrefix(target, start) })
}

// captures are what the groups of a rewrite's pattern matched.
type captures struct {
	path   string
	groups []int
	names  []string
	// redirects is set if the target is a URL that the client is sent to.
	redirects bool
}

// fill puts the captures in a target.
// Source: ngx_http_script_compile, ngx_http_script_copy_capture_code and
// ngx_http_script_regex_end_code in nginx's src/http/ngx_http_script.c.
func (c captures) fill(target string) (filled string, ok bool) {
	var out strings.Builder
	escapes := c.redirects
	for target != "" {
		if number := numbered(target); number > 0 {
			text := c.group(number)
			if escapes && strings.Trim(text, plainInArguments) != "" {
				return "", false
			}
			out.WriteString(text)
			target = target[2:]
			continue
		}
		escapes = escapes || target[0] == '?'
		length, text := c.other(target)
		out.WriteString(text)
		target = target[length:]
	}
	// The URL of a redirect is unescaped in part.
	return out.String(), !c.redirects || !strings.Contains(out.String(), "%")
}

// plainInArguments are bytes that nginx never escapes.
const plainInArguments = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/-._~"

// numbered gives the number of the group that a target begins with, 0 if it does
// not. It has one digit.
func numbered(target string) int {
	if len(target) > 1 && target[0] == '$' && target[1] >= '1' && target[1] <= '9' {
		return int(target[1] - '0')
	}
	return 0
}

// other gives what stands for the first byte of a target, or for the variable
// that it begins with, and how long that is.
func (c captures) other(target string) (length int, text string) {
	variable := reference.FindString(target)
	if target[0] != '$' || !strings.HasPrefix(target, variable) || variable == "" {
		return 1, target[:1]
	}
	group := slices.Index(c.names, strings.Trim(variable, "${}"))
	if group < 1 {
		return len(variable), variable
	}
	return len(variable), c.group(group)
}

// group gives what a group matched, nothing if it took no part or is not there.
func (c captures) group(number int) string {
	if 2*number >= len(c.groups) || c.groups[2*number] < 0 {
		return ""
	}
	return c.path[c.groups[2*number]:c.groups[2*number+1]]
}
