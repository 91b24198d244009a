package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"sluice/internal/manifest"
)

// mostDrainMemory is a terabyte, in megabytes.
const mostDrainMemory = 1 << 20

// validate returns an error with the flag, its value and a valid one.
func (f *runFlags) validate() error {
	if f.manifests != "" && f.kubeconfig+f.apiserverHost != "" {
		return errors.New("--manifests and --kubeconfig or --apiserver-host: want manifests or a cluster (got both)")
	}
	if f.RequireConfigMap && f.configMap == "" {
		return errRequiredUnnamed
	}
	if f.logFormat != "text" && f.logFormat != "json" {
		return fmt.Errorf("--log-format: want text or json (got %q)", f.logFormat)
	}
	if !(f.syncRateLimit > 0) || math.IsInf(f.syncRateLimit, 0) {
		return fmt.Errorf("--sync-rate-limit: want more than 0 reloads a second (got %v)", f.syncRateLimit)
	}
	for _, check := range []func() error{f.clusterFlags.validate, f.reportFlags.validate, f.metricsFlags.validate, f.webhookFlags.validate, f.validateNumbers, f.validateProfiles, f.validateHealthPath, f.validateNginxRoot, f.validateFolders} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// longestGrace is a day, in seconds.
const longestGrace = 86400

func (f *runFlags) validateNumbers() error {
	for _, n := range []struct {
		flag               string
		value, least, most int
		noun               string
	}{
		{"drain-memory", f.drainMemory, 0, mostDrainMemory, "a number of megabytes"},
		{"http-port", f.httpPort, 1, 65535, "a port"},
		{"https-port", f.httpsPort, 1, 65535, "a port"},
		{"healthz-port", f.healthzPort, 1, 65535, "a port"},
		{"profiler-port", f.profilerPort, 1, 65535, "a port"},
		{"shutdown-grace-period", f.shutdownGrace, 0, longestGrace, "a number of seconds"},
		{"post-shutdown-grace-period", f.postShutdownGrace, 0, longestGrace, "a number of seconds"},
	} {
		if n.value < n.least || n.value > n.most {
			return fmt.Errorf("--%s: want %s from %d to %d (got %d)", n.flag, n.noun, n.least, n.most, n.value)
		}
	}
	if f.httpPort == f.httpsPort || f.httpPort == f.healthzPort || f.httpsPort == f.healthzPort {
		return fmt.Errorf("--http-port, --https-port and --healthz-port: want three different ports (got %d, %d and %d)", f.httpPort, f.httpsPort, f.healthzPort)
	}
	for _, port := range f.reserved() {
		if number, is := f.webhookPort(); is && port.Number == number && port.Use != webhookFlag {
			return fmt.Errorf("%s: want another port (got %d, which is that of %s)", webhookFlag, number, port.Use)
		}
	}
	return nil
}

// validateHealthPath rejects paths that http.ServeMux reads as patterns.
func (f *translateFlags) validateHealthPath() error {
	if !strings.HasPrefix(f.HealthPath, "/") || strings.ContainsAny(f.HealthPath, "{} \t") || filepath.Clean(f.HealthPath) != f.HealthPath || f.HealthPath == "/readyz" {
		return fmt.Errorf("--health-check-path: want a path such as /healthz, other than /readyz and without braces (got %q)", f.HealthPath)
	}
	return nil
}

// validateFolders rejects a state directory inside the manifests: Sluice would read its own
// files as manifests, and read all again after each write.
func (f *runFlags) validateFolders() error {
	if f.manifests == "" || f.manifests == manifest.Stdin {
		return nil
	}
	state, manifests := resolved(f.stateDir), resolved(f.manifests)
	inside, err := filepath.Rel(manifests, state)
	if err != nil || inside == ".." || strings.HasPrefix(inside, "../") {
		return nil
	}
	for _, element := range strings.Split(inside, "/") {
		if inside != "." && strings.HasPrefix(element, ".") {
			return nil // hidden folders are not read
		}
	}
	return fmt.Errorf("--state-dir: want a folder outside of --manifests (got %s, which is inside of %s)", f.stateDir, f.manifests)
}

func (f *runFlags) validateNginxRoot() error {
	info, err := os.Stat(f.nginxRoot)
	if err == nil && !info.IsDir() {
		err = errors.New("not a folder")
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	if err != nil {
		return fmt.Errorf("--nginx-root: want a folder with a root file system, / for this one (got %q: %w)", f.nginxRoot, err)
	}
	return nil
}

// resolved returns a path without symbolic links, as far as it exists.
func resolved(path string) string {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if real, err := filepath.EvalSymlinks(absolute); err == nil {
		return real
	}
	if parent := filepath.Dir(absolute); parent != absolute {
		return filepath.Join(resolved(parent), filepath.Base(absolute))
	}
	return absolute
}
