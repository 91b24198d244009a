package annotations

// Logs is what is written to nginx's logs of the requests for the paths.
type Logs struct {
	Access  bool `key:"enable-access-log" default:"true" risk:"low" doc:"Whether requests are in the access log, if there is one."`
	Rewrite bool `key:"enable-rewrite-log" default:"false" risk:"low" doc:"Whether the error log says, at level notice, what rewrites did."`
}

// logsBlock is what the template of Logs prints.
type logsBlock struct{ Off, Rewrite bool }

// Print gives what differs from what is usual.
func (l Logs) Print(Place) any {
	if l.Access && !l.Rewrite {
		return nil
	}
	return logsBlock{Off: !l.Access, Rewrite: l.Rewrite}
}
