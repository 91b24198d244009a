package keys

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sluice/internal/syntax"
)

// Redirection redirects a path, or all paths below it.
type Redirection struct {
	// From is the decoded path, without the slash at its end if Below is set.
	From  string `json:"from"`
	Below bool   `json:"below,omitempty"`
	// To is a path, or a URL with a host. Keeps is set if the rest of the path follows it.
	To    string `json:"to"`
	Keeps bool   `json:"keeps,omitempty"`
	Code  int    `json:"code"`
}

// Redirects are redirects in the order of their lines.
type Redirects []Redirection

var redirectTo = regexp.MustCompile(`^(?:https?://` + hostName + `(?::` + portNumber + `)?)?/[A-Za-z0-9\-._~/:,?&=+@%!;]*$`)

// UnmarshalText accepts lines such as "/old /new 302" and "/old/* https://example.com/new/*".
func (r *Redirects) UnmarshalText(text []byte) error {
	var list Redirects
	err := readLines(text, func(line string) error {
		words := strings.Fields(line)
		one := Redirection{Code: 301}
		if len(words) == 3 {
			one.Code, _ = strconv.Atoi(words[2])
		}
		if len(words) < 2 || len(words) > 3 || !slices.Contains([]int{301, 302, 303, 307, 308}, one.Code) {
			return wrongLine(line, `want "/from /to" and no more but 301, 302, 303, 307 or 308`)
		}
		one.From, one.Below = strings.CutSuffix(words[0], "/*")
		one.To, one.Keeps = strings.CutSuffix(words[1], "*")
		switch {
		case !isPlainPath(one.From) && !(one.From == "" && one.Below):
			return wrongLine(line, "want a path that begins with / and is decoded, with /* at its end or not, to redirect")
		case !redirectTo.MatchString(one.To) || strings.HasPrefix(one.To, "//") || len(one.To) > syntax.LongestHeaderValue:
			return wrongLine(line, "want a path that begins with /, or a URL that begins with http:// or https:// and has a path, to redirect to")
		case one.Keeps && (!one.Below || !strings.HasSuffix(one.To, "/") || strings.Contains(one.To, "?")):
			return wrongLine(line, "want /* at the end of both, so that the rest of the path can be kept")
		case slices.ContainsFunc(list, func(other Redirection) bool { return other.From == one.From && other.Below == one.Below }):
			return wrongLine(line, "want each path once")
		}
		list = append(list, one)
		return nil
	})
	if from := list.Loop(nil); err == nil && from != "" {
		err = wrongLine(from, "its redirects never end")
	}
	*r = list
	return err
}

// Loop returns a path whose redirects on the given hosts never end, empty for none.
func (r Redirects) Loop(hosts []string) string {
	for _, one := range r {
		path, steps := one.From, 0
		if one.Below {
			path += "/x"
		}
		for redirected := true; redirected; steps++ {
			if steps > len(r) {
				return one.From
			}
			path, redirected = r.next(path, hosts)
		}
	}
	return ""
}

// next returns the path to which a path is redirected.
func (r Redirects) next(path string, hosts []string) (to string, redirected bool) {
	var found *Redirection
	for i := range r {
		one := &r[i]
		switch {
		case !one.Below && one.From == path:
			return one.target(path, hosts)
		case one.Below && strings.HasPrefix(path+"/", one.From+"/") && (found == nil || len(found.From) < len(one.From)):
			found = one
		}
	}
	if found == nil {
		return "", false
	}
	return found.target(path, hosts)
}

// target returns the path that a path is redirected to; false if it is on another host.
func (r *Redirection) target(path string, hosts []string) (to string, here bool) {
	to = r.To
	if _, rest, absolute := strings.Cut(to, "://"); absolute {
		host, below, _ := strings.Cut(rest, "/")
		host, _, _ = strings.Cut(host, ":")
		if !slices.Contains(hosts, strings.ToLower(host)) {
			return "", false
		}
		to = "/" + below
	}
	to, _, _ = strings.Cut(to, "?")
	if r.Keeps {
		to += strings.TrimPrefix(strings.TrimPrefix(path, r.From), "/")
	}
	return to, true
}
