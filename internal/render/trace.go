package render

import "sluice/internal/model"

// traceView is the data of the template of a traced location.
type traceView struct {
	// File is the Lua file that continues or begins the trace.
	File string
	// How says in words what it has to do: see trace.lua.
	How string
	// Path is the path of the rule. Name is the name of the spans, which may contain
	// variables; empty for the method and Path.
	Path, Name string
}

// mostTracedPath is the most bytes of the path of a rule in a span.
const mostTracedPath = 200

// trace returns nil if requests are not traced. A subrequest has the trace of its parent.
func (e *Environment) trace(l *model.Location) *traceView {
	if l.Trace == nil || isSubrequest(l) {
		return nil
	}
	view := &traceView{File: e.entry("trace"), How: "share=" + l.Trace.Share, Name: l.Trace.Name}
	for _, word := range []struct {
		holds bool
		text  string
	}{{l.Trace.Trusts, " trusts"}, {l.Trace.ParentBased, " parent"}, {l.Trace.Records, " records"}} {
		if word.holds {
			view.How += word.text
		}
	}
	if l.Trace.Records {
		view.Path = model.OneLine(loggedPath(l.Rule), mostTracedPath)
	}
	return view
}

// watch returns the Lua file that runs at the end of a request: for the balancer, for the
// span, or for both. It is "" for none.
func (e *Environment) watch(l *model.Location) string {
	watched := l.Watched || l.Proxy != nil && l.Proxy.Watched
	switch traced := l.Trace != nil && l.Trace.Records; {
	case traced && watched:
		return e.entry("log_both")
	case traced:
		return e.entry("log_trace")
	case watched:
		return e.entry("log")
	}
	return ""
}
