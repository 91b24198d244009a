// Package e2e runs the real sluice with the real nginx and real sockets on
// loopback. Each test runs once for every nginx that is there: the system's,
// and the one of SLUICE_NGINX_ROOT (make test builds it). Tests of what Sluice
// itself does, whatever nginx does, run with one of them (oneNginx).
package e2e

import (
	"hash/fnv"
	"os"
	"runtime/debug"
	"slices"
	"testing"

	"sluice/test/kit"
)

// sluicePath is the binary under test, built once.
var sluicePath string

func TestMain(m *testing.M) {
	kit.TwoTestsPerCore()
	os.Exit(kit.WithSluice(func(path string) int { sluicePath = path; return m.Run() }, buildFlags()...))
}

// raceDetector says whether these tests were built with -race. Then sluice is as
// well, and a race that is found in it fails the test (noRace).
var raceDetector = builtWithRace()

func builtWithRace() bool {
	build, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(build.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// buildFlags are those of go build.
func buildFlags() []string {
	if raceDetector {
		return []string{"-race"}
	}
	return nil
}

// eachNginx runs a test with every nginx that is there, beside other tests.
func eachNginx(t *testing.T, test func(t *testing.T, root string)) {
	t.Helper()
	t.Parallel()
	for _, nginx := range kit.Nginxes(t) {
		t.Run(nginx.Name, func(t *testing.T) {
			t.Parallel()
			test(t, nginx.Root)
		})
	}
}

// oneNginx runs a test with one nginx of those that are there, beside other tests. The
// name of the test decides which, so that each has its share.
func oneNginx(t *testing.T, test func(t *testing.T, root string)) {
	t.Helper()
	t.Parallel()
	oneNginxAlone(t, test)
}

// oneNginxAlone is oneNginx while no other test of the package runs.
func oneNginxAlone(t *testing.T, test func(t *testing.T, root string)) {
	t.Helper()
	all, name := kit.Nginxes(t), fnv.New32a()
	name.Write([]byte(t.Name()))
	nginx := all[int(name.Sum32()%uint32(len(all)))]
	t.Run(nginx.Name, func(t *testing.T) { test(t, nginx.Root) })
}

// eachNginxAlone is eachNginx for a test that measures time or keeps the machine
// busy: no other test of the package runs meanwhile.
func eachNginxAlone(t *testing.T, test func(t *testing.T, root string)) {
	t.Helper()
	for _, nginx := range kit.Nginxes(t) {
		t.Run(nginx.Name, func(t *testing.T) { test(t, nginx.Root) })
	}
}
