package translate

import (
	"iter"

	"sluice/internal/model"
)

// Subrequest is an internal location for subrequests to a host that an annotation
// names.
type Subrequest struct {
	*model.Internal
	Backend *model.Backend
	// Annotation names the host, without the prefix. Failure is the effect of an
	// unreachable host.
	Annotation, Failure string
}

// subrequests are the kinds of Subrequest, by the block of their locations.
var subrequests = map[string]Subrequest{
	"external-auth-question": {Annotation: authURL, Failure: "clients get 500"},
	"mirror-copy":            {Annotation: "mirror-target", Failure: "nothing is mirrored"},
}

// Subrequests yields those of a Config, in the order of its servers.
func Subrequests(c *model.Config) iter.Seq[Subrequest] {
	return func(yield func(Subrequest) bool) {
		for _, server := range c.Static.Servers {
			for _, l := range server.Internal {
				s, ok := subrequestOf(l)
				if !ok {
					continue
				}
				if s.Backend = c.Dynamic.Backend(l.Proxy.Backend); s.Backend != nil && !yield(s) {
					return
				}
			}
		}
	}
}

func subrequestOf(l *model.Internal) (s Subrequest, ok bool) {
	for _, block := range l.Blocks {
		if s, ok = subrequests[block.Name]; ok && l.Proxy != nil {
			s.Internal = l
			return s, true
		}
	}
	return s, false
}
