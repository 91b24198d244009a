package annotations

import (
	"slices"

	"sluice/internal/keys"
	"sluice/internal/settings"
)

// Logs configures the logs of requests for the paths.
type Logs struct {
	Access  bool           `key:"enable-access-log" default:"true" risk:"low" doc:"Whether requests are in the access log, if there is one."`
	Rewrite bool           `key:"enable-rewrite-log" default:"false" risk:"low" doc:"Whether nginx logs rewrites to the error log at level notice."`
	Format  string         `key:"access-log-format" own:"true" from:"access-log-format" risk:"low" validate:"oneof=text json logfmt" doc:"Format of the lines of the access log: text is that of log-format-upstream, json an object in each line, and logfmt words NAME=VALUE."`
	Shares  keys.LogShares `key:"access-log-sampling" own:"true" from:"access-log-sampling" risk:"low" doc:"Shares of requests that are in the access log, by status or class of statuses, such as \"2xx=1% 3xx=10%\". A status counts before its class, and requests with other statuses are all in the log."`
}

// logsBlock is the data of the templates of Logs.
type logsBlock struct {
	Off, Rewrite bool
	// Target is the file of the access log with its Params, if Format or Shares are not
	// those of the settings; otherwise it is empty. Format is the name of a log_format, and
	// FormatText its text if the settings do not print it.
	Target, Format, FormatText string
	Params                     []string
	// Unclean are the variables that FormatText needs mended.
	Unclean []settings.Unclean
	// Sampling decides which requests are in the log. Samples is set if the settings do not
	// print it.
	Sampling settings.Sampling
	Samples  bool
}

// Print returns the settings, nil if they are the defaults.
func (l Logs) Print(at Place) any {
	b := logsBlock{Off: !l.Access, Rewrite: l.Rewrite}
	log := at.Settings.Log
	if target := log.AccessLog(); l.Access && target != "" && (l.Format != log.AccessFormat || !slices.Equal(l.Shares, log.AccessShares)) {
		b.Target, b.Params = target, log.Params()
		l.choose(&b, log)
	}
	if !b.Off && !b.Rewrite && b.Target == "" {
		return nil
	}
	return b
}

// Skipping returns the block whose log leaves out requests by $loggable.
func (b logsBlock) Skipping() any {
	b.Sampling.Skips = true
	return b
}

// choose sets the format, and which requests are in the log.
func (l Logs) choose(b *logsBlock, log settings.Log) {
	b.Format = settings.FormatName(l.Format)
	b.Sampling, b.Samples = log.SamplingBy(l.Shares), !slices.Equal(l.Shares, log.AccessShares)
	if l.Format != log.AccessFormat {
		b.FormatText, b.Unclean = settings.FormatText(l.Format), settings.UncleanOf(l.Format)
	}
}
