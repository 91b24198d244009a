package injection

import (
	"fmt"
	"sync"
)

// tally counts what was judged.
type tally struct {
	sync.Mutex
	// cases were judged, of which those as YAML came out of it other than they
	// went in. refused were not read as YAML, same were read as they went in.
	cases, refused, same int
	// files were read.
	files int
	// places had values tried.
	places int
}

func (c *tally) add(other *tally) {
	c.Lock()
	defer c.Unlock()
	c.cases += other.cases
	c.refused += other.refused
	c.same += other.same
	c.files += other.files
	c.places += other.places
}

func (c *tally) String() string {
	return fmt.Sprintf("%d cases in %d places; as YAML %d refused and %d read as they were; %d files read", c.cases, c.places, c.refused, c.same, c.files)
}
