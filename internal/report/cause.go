package report

// The causes of a reload besides those that Cause returns.
const (
	// CauseStart is that of the first configuration.
	CauseStart = "start"
	// CauseRestart is that of a configuration that nginx had already loaded.
	CauseRestart = "restart"
)

// Cause names the cause of a reload by what changed: templates, settings, streams,
// passthrough, hosts, or other. The first that holds counts.
func Cause(what []Changes) string {
	changed := map[string]bool{}
	for _, c := range what {
		for _, name := range c.Names {
			if c.Kind == "everywhere" {
				changed[name] = true
			}
		}
		changed[c.Kind] = changed[c.Kind] || len(c.Names) > 0
	}
	switch {
	case changed["templates"]:
		return "templates"
	case changed["settings"]:
		return "settings"
	case changed["streams"], changed["streamsGone"]:
		return "streams"
	case changed["passedThrough"], changed["passedThroughGone"]:
		return "passthrough"
	case changed["hosts"], changed["hostsGone"]:
		return "hosts"
	}
	return "other"
}
