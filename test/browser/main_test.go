// Package browser opens the page of `kubectl sluice ui` in a headless Chromium: the real plugin,
// in front of a real sluice with 10,000 Ingresses, whose names and paths may be hostile. A script
// stands in for kubectl, and a small server for the API server: they lead to the debug socket of
// that sluice.
package browser

import (
	"fmt"
	"os"
	"testing"

	"sluice/test/kit"
)

// The binaries under test.
var sluicePath, pluginPath string

func TestMain(m *testing.M) {
	os.Exit(kit.WithSluice(func(path string) int {
		sluicePath = path
		var err error
		if pluginPath, err = kit.BuildPlugin(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}))
}
