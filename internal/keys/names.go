package keys

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// ServerNames is a list of names as nginx's server_name takes them, sorted and
// without repetitions: precise ones, "*.name" and "name.*", which stand for any
// number of labels, and "~" with a regular expression.
// Source: https://nginx.org/en/docs/http/server_names.html
type ServerNames []string

// maxServerNames is more names than a host has, maxServerName the longest DNS
// name, and maxServerNamePattern more than a pattern of names needs.
const (
	maxServerNames       = 100
	maxServerName        = 253
	maxServerNamePattern = 500
)

var (
	serverName = regexp.MustCompile(`^(?:\*\.)?[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*(?:\.\*)?$`)
	// The character set is ingress-nginx's.
	serverNamePattern = regexp.MustCompile(`^~[A-Za-z0-9\-._~/:^$\[\](){}*+?|&=\\]+$`)
)

// UnmarshalText accepts names separated by commas; items that are empty do not
// count. ".name" is nginx's short form of "name" and "*.name". One item that is no name makes the whole list invalid.
func (n *ServerNames) UnmarshalText(text []byte) error {
	var list []string
	for item := range strings.SplitSeq(string(text), ",") {
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		if short, ok := strings.CutPrefix(item, "."); ok {
			list = append(list, "*."+strings.ToLower(short))
			item = short
		}
		if !strings.HasPrefix(item, "~") {
			item = strings.ToLower(item)
		}
		list = append(list, item)
	}
	for _, name := range list {
		if !isServerName(name) {
			return fmt.Errorf("%q is not a server name", name)
		}
	}
	slices.Sort(list)
	*n = slices.Compact(list)
	if len(*n) > maxServerNames {
		return fmt.Errorf("more than %d names", maxServerNames)
	}
	return nil
}

func isServerName(name string) bool {
	if strings.HasPrefix(name, "~") {
		return len(name) <= 1+maxServerNamePattern && serverNamePattern.MatchString(name)
	}
	if name == "_" {
		return false // it is what nginx.conf calls the server of all other names
	}
	bothEnds := strings.HasPrefix(name, "*.") && strings.HasSuffix(name, ".*")
	return len(name) <= maxServerName && !bothEnds && serverName.MatchString(name)
}
