package keys

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// ServerNames is a list of names for nginx's server_name, sorted and without
// duplicates: exact ones, "*.name" and "name.*" for any number of labels, and "~"
// with a regular expression. Source: https://nginx.org/en/docs/http/server_names.html
type ServerNames []string

// Limits of the list and its items. maxServerName is the longest DNS name.
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

// UnmarshalText accepts names separated by commas. ".name" is
// nginx's short form of "name" and "*.name". One invalid item makes the whole list
// invalid.
func (n *ServerNames) UnmarshalText(text []byte) error {
	var list []string
	for _, item := range Items(string(text)) {
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
		return false // nginx.conf uses this name for the catch-all server
	}
	bothEnds := strings.HasPrefix(name, "*.") && strings.HasSuffix(name, ".*")
	return len(name) <= maxServerName && !bothEnds && serverName.MatchString(name)
}
