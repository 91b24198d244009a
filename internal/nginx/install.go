package nginx

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// packages are the Debian packages that an installation needs.
const packages = "nginx libnginx-mod-http-lua lua-resty-core lua-resty-lrucache lua-cjson"

// oldest is the oldest nginx that Sluice's configuration is tested with.
var oldest = version{1, 22, 0}

// Install describes a suitable nginx: the modules to load and how to start it.
type Install struct {
	// Version is nginx's version, such as "1.26.3", for people. The features of the
	// binary are in Capabilities.
	Version string
	// Modules are the absolute paths of the modules to load always, in order.
	Modules []string
	// LuaPath and LuaCPath are the values of lua_package_path and lua_package_cpath
	// besides Sluice's own directory.
	LuaPath, LuaCPath string
	// Capabilities are the features of the binary.
	Capabilities Capabilities

	argv []string
}

// Command returns the argument vector that runs nginx with args. If nginx comes from
// another root, the dynamic loader comes first.
func (i Install) Command(args ...string) []string { return slices.Concat(i.argv, args) }

// Inspect finds nginx and its features. It runs `nginx -V` once. Errors have one line
// and name the missing package.
func Inspect(ctx context.Context, o Options) (Install, error) {
	binary, err := findBinary(o)
	if err != nil {
		return Install{}, err
	}
	argv, err := loaderFor(o.Root, binary)
	if err != nil {
		return Install{}, err
	}
	text, err := versionText(ctx, argv)
	if err != nil {
		return Install{}, err
	}
	return inspect(o, argv, text)
}

func inspect(o Options, argv []string, text string) (Install, error) {
	v, err := parseVersion(text)
	if err != nil {
		return Install{}, err
	}
	if slices.Compare(v[:], oldest[:]) < 0 {
		return Install{}, fmt.Errorf("nginx %s is too old: install nginx %s or newer", v, oldest)
	}
	arguments := configureArguments(text)
	dir := modulesDir(o, arguments)
	i := Install{Version: v.String(), argv: argv, Capabilities: capabilities(v, arguments, dir)}
	i.Capabilities.CoreRules = coreRules(o)
	if i.Modules, err = luaModules(dir); err != nil {
		return Install{}, err
	}
	if i.LuaPath, i.LuaCPath, err = luaLibraries(o); err != nil {
		return Install{}, err
	}
	return i, nil
}

func findBinary(o Options) (string, error) {
	if o.Binary == "" {
		o.Binary = os.Getenv("NGINX_BINARY")
	}
	if o.Binary != "" {
		path := o.Binary
		if strings.ContainsRune(path, '/') {
			path = o.inRoot(path)
		}
		if found, err := exec.LookPath(path); err == nil {
			return filepath.Abs(found)
		}
		return "", fmt.Errorf("nginx not found: %s is not an executable file: install nginx with \"apt-get install %s\" or name another with --nginx-binary", path, packages)
	}
	if o.ownRoot() {
		if found, err := exec.LookPath("nginx"); err == nil {
			return filepath.Abs(found)
		}
	}
	for _, path := range []string{"/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/local/nginx/sbin/nginx"} {
		if found, err := exec.LookPath(o.inRoot(path)); err == nil {
			return found, nil
		}
	}
	if !o.ownRoot() {
		return "", fmt.Errorf("nginx not found in %s: install %s there", o.Root, packages)
	}
	return "", fmt.Errorf("nginx not found: install it with \"apt-get install %s\" or name it with --nginx-binary", packages)
}

func (o Options) ownRoot() bool { return o.Root == "" || filepath.Clean(o.Root) == "/" }

// inRoot returns an absolute path below the root, unless it is there already.
func (o Options) inRoot(path string) string {
	if o.ownRoot() || strings.HasPrefix(path, filepath.Clean(o.Root)+"/") {
		return path
	}
	return filepath.Join(o.Root, path)
}

// loaderFor returns the arguments that start a binary: the binary itself, or the
// dynamic loader of another root with that root's libraries.
func loaderFor(root, binary string) ([]string, error) {
	if (Options{Root: root}).ownRoot() {
		return []string{binary}, nil
	}
	loaders := []string{"lib64/ld-linux-*.so.*", "lib/ld-linux-*.so.*", "usr/lib64/ld-linux-*.so.*", "usr/lib/ld-linux-*.so.*", "usr/lib/" + triplet() + "/ld-linux-*.so.*"}
	for _, pattern := range loaders {
		if found, _ := filepath.Glob(filepath.Join(root, pattern)); len(found) > 0 {
			return []string{found[0], "--library-path", libraryPath(root), binary}, nil
		}
	}
	return nil, fmt.Errorf("no dynamic loader in %s: want lib64/ld-linux-*.so.*", root)
}

func libraryPath(root string) string {
	var dirs []string
	for _, dir := range []string{"lib/" + triplet(), "usr/lib/" + triplet(), "lib64", "usr/lib64", "lib", "usr/lib"} {
		if info, err := os.Stat(filepath.Join(root, dir)); err == nil && info.IsDir() {
			dirs = append(dirs, filepath.Join(root, dir))
		}
	}
	return strings.Join(dirs, ":")
}

// triplet is Debian's name of the machine in library paths.
// Source: https://wiki.debian.org/Multiarch/Tuples
func triplet() string {
	switch runtime.GOARCH {
	case "arm64":
		return "aarch64-linux-gnu"
	case "arm":
		return "arm-linux-gnueabihf"
	case "ppc64le":
		return "powerpc64le-linux-gnu"
	case "s390x":
		return "s390x-linux-gnu"
	case "riscv64":
		return "riscv64-linux-gnu"
	default:
		return "x86_64-linux-gnu"
	}
}

func versionText(ctx context.Context, argv []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], append(argv[1:len(argv):len(argv)], "-V")...)
	cmd.Env, cmd.WaitDelay = environment(largePages), time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("run %q: %w: %s", strings.Join(append(argv, "-V"), " "), err, OneLine(string(out)))
	}
	return string(out), nil
}

// Tunables of the C library's memory for environment. Source:
// https://www.gnu.org/software/libc/manual/html_node/Memory-Allocation-Tunables.html
const (
	// largePages make nginx read a large file a quarter faster, because most of the
	// remaining time is spent on requesting memory page by page.
	largePages = "glibc.malloc.hugetlb=1"
	// keepMemory is for an nginx that ends soon: it returns no memory before. Each map
	// needs 1.6 MB while it is read, for tables that are cleared first. A test of a small
	// file takes a fifth less processor time with it, and no more memory. A reload takes
	// as long as without.
	keepMemory = ":glibc.malloc.trim_threshold=67108864:glibc.malloc.mmap_threshold=33554432"
)

// environment is the whole environment of nginx. It contains nothing of ours that
// could be secret.
func environment(tunables string) []string {
	env := []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"GLIBC_TUNABLES=" + tunables,
	}
	if zone, ok := os.LookupEnv("TZ"); ok {
		env = append(env, "TZ="+zone)
	}
	return env
}

// OneLine joins the lines of a message.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

type version [3]int

func (v version) String() string { return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]) }

func (v version) atLeast(other version) bool { return slices.Compare(v[:], other[:]) >= 0 }

var versionPattern = regexp.MustCompile(`(?m)^nginx version: \S*?/(\d+)\.(\d+)\.(\d+)`)

func parseVersion(text string) (version, error) {
	match := versionPattern.FindStringSubmatch(text)
	if match == nil {
		return version{}, fmt.Errorf("`nginx -V` names no version: %s", OneLine(text))
	}
	var v version
	var errs []error
	for i := range v {
		n, err := strconv.Atoi(match[i+1])
		v[i], errs = n, append(errs, err)
	}
	return v, errors.Join(errs...)
}
