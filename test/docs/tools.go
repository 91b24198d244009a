package docs

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Tools are the programs that the pages use, by folders that are to be on the
// PATH, and the environment to call them in.
type Tools struct {
	Path        []string
	Environment []string
}

// FindClients finds the folder with kubectl and helm: SLUICE_CLIENTS, or what
// tools/build.sh has made last. It does not build: that takes minutes, and the
// network.
func FindClients(root string) (string, error) {
	if folder := os.Getenv("SLUICE_CLIENTS"); folder != "" {
		return folder, nil
	}
	cache := os.Getenv("SLUICE_CLUSTER_CACHE")
	if cache == "" {
		cache = filepath.Join(root, ".cache")
	}
	found, err := filepath.Glob(filepath.Join(cache, "clients-*", "complete"))
	if err != nil {
		return "", err
	}
	newest := ""
	var when int64
	for _, mark := range found {
		if info, err := os.Stat(mark); err == nil && info.ModTime().UnixNano() > when {
			newest, when = filepath.Dir(mark), info.ModTime().UnixNano()
		}
	}
	if newest == "" {
		return "", fmt.Errorf("kubectl and helm are not in %s: `make clients` builds them (some minutes, once)", cache)
	}
	return newest, nil
}

// goSettings keep what go has built and fetched when HOME is another.
var goSettings = []string{"GOCACHE", "GOMODCACHE", "GOPATH"}

// In gives an environment in which a page's commands run: these tools, and a home
// of its own.
func (t Tools) In(home string) (Tools, error) {
	path := strings.Join(append(t.Path, os.Getenv("PATH")), string(os.PathListSeparator))
	// With -trimpath what was built of one copy of the checkout is good for the next.
	t.Environment = []string{"HOME=" + home, "PATH=" + path, "GOFLAGS=-trimpath", "LC_ALL=C.UTF-8", "TERM=dumb"}
	for _, name := range goSettings {
		value, err := exec.Command("go", "env", name).Output()
		if err != nil {
			return t, err
		}
		t.Environment = append(t.Environment, name+"="+strings.TrimSpace(string(value)))
	}
	for _, name := range []string{"TMPDIR", "SLUICE_NGINX_ROOT", "SLUICE_CLUSTER_CACHE"} {
		if value, set := os.LookupEnv(name); set {
			t.Environment = append(t.Environment, name+"="+value)
		}
	}
	return t, nil
}

// Run runs one of the tools, and gives what it prints to standard output.
func (t Tools) Run(name string, arguments ...string) (string, error) {
	for _, folder := range t.Path {
		path := filepath.Join(folder, name)
		if _, err := os.Stat(path); err != nil {
			continue
		}
		command := exec.Command(path, arguments...)
		command.Env = t.Environment
		printed, err := command.Output()
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			err = fmt.Errorf("%s %s: %w: %s", name, strings.Join(arguments, " "), err, exit.Stderr)
		}
		return string(printed), err
	}
	return "", fmt.Errorf("%s is in none of %s", name, t.Path)
}
