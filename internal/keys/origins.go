package keys

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Origins is a list of web origins (RFC 6454), in lower case and sorted:
// "https://a.example", "https://*.a.example:8443", "null". If it contains "*", it is
// just "*". "*." at the beginning of a host stands for one label.
type Origins []string

var originPattern = regexp.MustCompile(`^([a-z][a-z0-9+\-.]*)://((?:\*\.)?[a-z0-9](?:[a-z0-9._\-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::([0-9]{1,5}))?$`)

// UnmarshalText accepts origins with their scheme, separated by commas. It drops
// invalid items. ingress-nginx uses "*" in their place, which allows every origin.
func (o *Origins) UnmarshalText(text []byte) error {
	var list, bad []string
	for _, item := range Items(strings.ToLower(string(text))) {
		if item != "*" && item != "null" && !isOrigin(item) {
			bad = append(bad, item)
			continue
		}
		list = append(list, item)
	}
	if slices.Contains(list, "*") {
		list = []string{"*"}
	}
	slices.Sort(list)
	*o = slices.Compact(list)
	if len(bad) > 0 || len(list) == 0 {
		return &partlyValid{bad: cmp.Or(strings.Join(bad, ", "), string(text)), rest: strings.Join(*o, ", ")}
	}
	return nil
}

func isOrigin(item string) bool {
	m := originPattern.FindStringSubmatch(item)
	if m == nil || len(item) > 512 || strings.Contains(item, "..") {
		return false
	}
	port, err := strconv.Atoi("0" + m[3])
	return err == nil && port <= 65535 && (m[3] == "" || port > 0)
}

// Any reports whether the list is "*".
func (o Origins) Any() bool { return len(o) == 1 && o[0] == "*" }
