package injection

// dropAnswers takes out the variables that a location empties before it asks an authentication
// server: those that its answer sets, and no others.
func dropAnswers(given map[string]string, within *directive) {
	for _, d := range find(within.body, "auth_request_set") {
		if value, set := given[d.args[0]]; set && value == "" {
			delete(given, d.args[0])
		}
	}
}
