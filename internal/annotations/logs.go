package annotations

// Logs configures the logs of requests for the paths.
type Logs struct {
	Access  bool `key:"enable-access-log" default:"true" risk:"low" doc:"Whether requests are in the access log, if there is one."`
	Rewrite bool `key:"enable-rewrite-log" default:"false" risk:"low" doc:"Whether nginx logs rewrites to the error log at level notice."`
}

// logsBlock is the data of the template of Logs.
type logsBlock struct{ Off, Rewrite bool }

// Print returns the settings, nil if they are the defaults.
func (l Logs) Print(Place) any {
	if l.Access && !l.Rewrite {
		return nil
	}
	return logsBlock{Off: !l.Access, Rewrite: l.Rewrite}
}
