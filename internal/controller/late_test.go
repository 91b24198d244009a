package controller

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"sluice/internal/nginx"
)

// slowly is an nginx whose tests take long, and that refuses every file but the first one and one
// without settings.
type slowly struct{ tests int }

func (n *slowly) Test(context.Context, io.WriterTo) error {
	time.Sleep(4 * time.Second)
	if n.tests++; n.tests == 2 {
		return nil
	}
	return &nginx.TestError{Text: "invalid configuration"}
}

func (n *slowly) TestApart(ctx context.Context, conf io.WriterTo) error { return n.Test(ctx, conf) }

// TestASearchForSettingsEnds: all changes wait for it. So it begins no test after 10 seconds.
func TestASearchForSettingsEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cm := settingsOf("HIGH")
		for key, value := range map[string]string{"gzip-level": "3", "keep-alive": "60", "server-tokens": "true", "hsts-max-age": "7", "proxy-read-timeout": "61", "enable-brotli": "false"} {
			cm.Data[key] = value
		}
		c, _ := guarded(t, cm, nil)
		c.sync(t.Context())
		n := &slowly{}
		s := &search{ctx: t.Context(), process: n, plan: c.submitted(), until: time.Now().Add(longestSearch)}
		began := time.Now()
		s.settings()
		if took := time.Since(began); took > longestSearch+4*time.Second || n.tests < 3 {
			t.Errorf("%d tests in %v", n.tests, took)
		}
	})
}
