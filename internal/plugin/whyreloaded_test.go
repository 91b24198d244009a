package plugin

import (
	"bytes"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"sluice/internal/debugapi"
)

// TestReloadsAreShown: what changed is counted and named, and failures are told with how often.
func TestReloadsAreShown(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	reloads := []debugapi.Reload{
		{At: now.Add(-time.Second), Cause: "hosts", LinesAdded: 12, LinesRemoved: 3, BytesMore: 340, Seconds: debugapi.Stages{All: 0.42, Load: 0.001, Test: 0.08, Live: 0.2, Settled: 0.3},
			Changed: []debugapi.Changed{{Kind: "ingresses", Count: 2, Names: []string{"shop/cart", "shop/web"}}, {Kind: "hostsGone", Count: 1, Names: []string{"a.example"}}}},
		{At: now.Add(-time.Hour), Cause: "settings", BytesMore: -7, LinesAdded: 1, LinesRemoved: 2, Error: "disk full", Repeated: 4, Changed: []debugapi.Changed{{Kind: "everywhere", Count: 2, Names: []string{"templates", "settings"}}}},
		{At: now.Add(-50 * time.Hour), Cause: "restart", Error: "nginx died"},
	}
	for format, want := range map[string]string{
		asTable: `AGO   CAUSE      CHANGED                                                 LINES    BYTES   TOOK     RESULT
1s    hosts      2 Ingresses (shop/cart, ...); 1 host gone (a.example)   +12 -3   +340    0.420s   loaded
60m   settings   templates and settings                                  +1 -2    -7      -        failed 5 times: disk full
2d    restart    -                                                       +0 -0    +0      -        failed: nginx died
`,
		asWide: `AGO   CAUSE      CHANGED                                                      LINES    BYTES   TOOK     RESULT                      LOAD     DECIDE   PUSH   TEST     LIVE     SETTLED
1s    hosts      2 Ingresses (shop/cart, shop/web); 1 host gone (a.example)   +12 -3   +340    0.420s   loaded                      0.001s   -        -      0.080s   0.200s   0.300s
60m   settings   templates and settings                                       +1 -2    -7      -        failed 5 times: disk full   -        -        -      -        -        -
2d    restart    -                                                            +0 -0    +0      -        failed: nginx died          -        -        -      -        -        -
`,
	} {
		var out bytes.Buffer
		s := &session{streams: genericiooptions.NewTestIOStreamsDiscard()}
		if err := s.printReloads(output{Writer: &out, format: format}, reloads, now); err != nil || out.String() != want {
			t.Errorf("%s: %v\n%swant\n%s", format, err, out.String(), want)
		}
	}
}
