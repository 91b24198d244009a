package render

import "sluice/internal/model"

// computedView is a variable with the path of the Lua file that computes it.
type computedView struct {
	Variable, File string
	Arguments      []any
}

// mostShownPath is the most bytes of the path of a rule as an argument.
const mostShownPath = 200

func (e *Environment) computed(l *model.Location) (views []computedView) {
	for _, c := range l.Computed {
		view := computedView{Variable: c.Variable, File: e.entry(c.By)}
		for _, argument := range c.Arguments {
			if argument == (model.PathOfRule{}) {
				argument = model.Verbatim(model.OneLine(loggedPath(l.Rule), mostShownPath))
			}
			view.Arguments = append(view.Arguments, argument)
		}
		views = append(views, view)
	}
	return views
}

// watch returns the Lua file that runs at the end of a request: for the balancer, for the
// span, or for both, and then also for the metrics. It is "" for none but that of the http
// level.
func (e *Environment) watch(l *model.Location) string {
	watched := l.Watched || l.Proxy != nil && l.Proxy.Watched
	switch {
	case e.Metrics.Requests && (l.Recorded || watched):
		return e.entry("log_all")
	case l.Recorded && watched:
		return e.entry("log_both")
	case l.Recorded:
		return e.entry("log_trace")
	case watched:
		return e.entry("log")
	}
	return ""
}
