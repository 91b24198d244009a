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
}

// Subrequests yields those of a Config, in the order of its servers.
func Subrequests(c *model.Config) iter.Seq[Subrequest] {
	return func(yield func(Subrequest) bool) {
		for _, server := range c.Static.Servers {
			for _, l := range server.Internal {
				if l.Purpose == nil {
					continue
				}
				s := Subrequest{Internal: l, Backend: c.Dynamic.Backend(l.Proxy.Backend)}
				if s.Backend != nil && !yield(s) {
					return
				}
			}
		}
	}
}
