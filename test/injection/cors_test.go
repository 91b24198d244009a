package injection

import "regexp"

// listName is the name of a list of origins: a hash.
var listName = regexp.MustCompile(`^[0-9a-f]{32}$`)

// dropList takes out of what a location sets the name of its list of origins,
// and that it asks whether the list lets the origin of a request in.
func dropList(given map[string]string) {
	if listName.MatchString(given["$cors_list"]) && given["$cors_granted"] == "$cors_match" {
		delete(given, "$cors_list")
		delete(given, "$cors_granted")
	}
}
