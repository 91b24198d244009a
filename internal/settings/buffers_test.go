package settings

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Busy buffers that nginx would reject become the nearest valid size.
func TestBusyBuffersAreMended(t *testing.T) {
	t.Parallel()
	for asked, want := range map[string]string{"": "8k", "1k": "4k", "12k": "12k", "13k": "12k", "32m": "12k"} {
		s, problems := read(map[string]string{"proxy-busy-buffers-size": asked})
		var told []string
		if asked != "" && asked != want {
			told = []string{`InvalidValue ConfigMap ingress/controller: proxy-busy-buffers-size: want a size from one of the 4 buffers of 4k to all but one (got "` + asked + `"); the size is ` + want + " until this is mended"}
		}
		if got := string(s.Proxy.BusySize()); got != want {
			t.Errorf("%q: %s, want %s", asked, got, want)
		}
		if diff := cmp.Diff(told, problems); diff != "" {
			t.Errorf("%q: %s", asked, diff)
		}
	}
}
