package requests

import (
	"regexp"

	"sluice/test/effects"
)

// difference is a cause for which an answer differs from that of nginx by hand.
type difference struct {
	why string
	// chance is set if it need not occur.
	chance bool
	is     func(r request, e *effects.Effect, ours, theirs seen) bool
	// mend makes the parts that differ equal.
	mend func(ours, theirs *seen)
}

// length is the header of a request with its length.
var length = regexp.MustCompile(`Content-Length: \d+ \| `)

var differences = []difference{
	{
		chance: true, why: "a chunked body that is not buffered arrives with the headers: nginx tells its length then",
		is: func(r request, _ *effects.Effect, ours, theirs seen) bool {
			return r.chunked && length.MatchString(ours.request) != length.MatchString(theirs.request)
		},
		mend: func(ours, theirs *seen) {
			ours.request, theirs.request = length.ReplaceAllString(ours.request, ""), length.ReplaceAllString(theirs.request, "")
		},
	},
	{
		chance: true, why: "HTTP/2 takes back a stream with its headers or after them: the client gets nothing or a part",
		is: func(r request, e *effects.Effect, ours, theirs seen) bool {
			return r.header.Get("Want") == "abort" && name(e) == "grpc" && ours.fault != "" && theirs.fault != ""
		},
		mend: func(ours, theirs *seen) { *ours, *theirs = seen{}, seen{} },
	},
	{
		why: "a Service gets Upgrade only with the Connection that makes it valid",
		is: func(r request, e *effects.Effect, _, theirs seen) bool {
			return r.header.Get("Upgrade") != "" && name(e) == "connection-header" && theirs.status == 101
		},
		mend: func(ours, theirs *seen) { *theirs = *ours },
	},
}
