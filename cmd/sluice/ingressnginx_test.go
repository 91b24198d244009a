package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
)

// sample is a value other than the default, for a flag of ingress-nginx.
func sample(name, kind, byDefault string) string {
	if name == "profiling" {
		return "true" // it is off here
	}
	switch kind {
	case "bool":
		return map[string]string{"true": "false", "false": "true"}[byDefault]
	case "ns/name":
		return "shop/web"
	case "int", "int seconds", "uint32", "uint MB":
		return "7"
	case "float", "float32":
		return "2.5"
	case "float list":
		return "1,2,3"
	case "duration":
		return "45s"
	}
	if name == "watch-namespace-selector" {
		return "team=web"
	}
	return "x.example"
}

// taking gives the flags of sluice run that such a Deployment's arguments lead to.
func taking(t *testing.T, args ...string) (*runFlags, *pflag.FlagSet, error) {
	t.Helper()
	var f runFlags
	set := pflag.NewFlagSet(ingressNginx, pflag.ContinueOnError)
	set.BoolVar(new(bool), "version", false, "")
	command := ingressNginxCommand()
	command.ResetFlags()
	f.add(command)
	f.addIngressNginx(command.Flags())
	set.AddFlagSet(command.Flags())
	err := set.Parse(args)
	f.fitIngressNginx()
	return &f, set, err
}

// TestFlagsOfIngressNginx: each flag of ingress-nginx is accepted, and either
// changes what is run or is said to have no effect, and why.
func TestFlagsOfIngressNginx(t *testing.T) {
	t.Parallel()
	file, err := os.Open(filepath.Join("testdata", "ingress-nginx-flags.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	usual, _, err := taking(t)
	if err != nil {
		t.Fatal(err)
	}
	unseen := inertNames()
	for _, row := range rows[1:] {
		name := row[0]
		given := "--" + name + "=" + sample(row[0], row[1], row[2])
		f, set, err := taking(t, given)
		if err != nil {
			t.Errorf("%s: %v", given, err)
			continue
		}
		i, isInert := inertNamed(name)
		unseen = slices.DeleteFunc(unseen, func(n string) bool { return n == name })
		changes := !reflect.DeepEqual(f, usual)
		switch {
		case isInert && changes:
			t.Errorf("%s is said to have no effect, and has", given)
		case isInert && i.reason == "":
			t.Errorf("%s has no effect, without a reason", given)
		case !isInert && !changes && name != "version":
			t.Errorf("%s has no effect, and nobody is told", given)
		}
		if isInert && !strings.Contains(saidOf(set), "--"+name+"=\"has no effect in Sluice: "+i.reason) {
			t.Errorf("%s: the log says %s", given, saidOf(set))
		}
	}
	if len(rows) < 80 {
		t.Errorf("%d flags, want those of ingress-nginx", len(rows)-1)
	}
	if len(unseen) > 0 {
		t.Errorf("these are none of ingress-nginx's: %v", unseen)
	}
}

// saidOf is what is logged of the flags that were given.
func saidOf(set *pflag.FlagSet) string {
	var log bytes.Buffer
	tellInert(slog.New(slog.NewTextHandler(&log, nil)), set)
	return log.String()
}

// TestDefaultsOfIngressNginx: the defaults are those of ingress-nginx, but where
// the reason is known.
func TestDefaultsOfIngressNginx(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile(filepath.Join("testdata", "ingress-nginx-flags.csv"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(file)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	_, set, _ := taking(t)
	ours := map[string]string{
		"sync-rate-limit":       "10", // reloads, where ingress-nginx limits all changes
		"watch-namespace":       "",   // written as "" (all)
		"profiling":             "false",
		"shutdown-grace-period": "5", // with 0 each update loses requests
	}
	for _, row := range rows[1:] {
		name, want := row[0], plain(row[2])
		if other, differs := ours[name]; differs {
			want = other
		}
		if got := plain(set.Lookup(name).DefValue); got != want {
			t.Errorf("--%s: the default is %q, want %q", name, got, want)
		}
	}
}

// plain is a default as it is compared, however it is written.
func plain(value string) string {
	value = strings.Trim(value, `[]"`)
	if name, is := strings.CutSuffix(value, ")"); is && strings.Contains(name, " (") {
		return name[strings.LastIndex(name, "(")+1:] // "0 (INFO)"
	}
	if value == "0s" {
		return "0"
	}
	return strings.NewReplacer("1e+06", "1e6", "1e+07", "1e7").Replace(value)
}

// TestValuesAsIngressNginxTakesThem: what sluice run refuses or means otherwise.
func TestValuesAsIngressNginxTakesThem(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		args []string
		want func(f *runFlags) bool
	}{
		{[]string{"--sync-rate-limit=0.3"}, func(f *runFlags) bool { return f.syncRateLimit == 10 }},
		{[]string{"--sync-rate-limit=0.5"}, func(f *runFlags) bool { return f.syncRateLimit == 0.5 }},
		{[]string{"--status-update-interval=1"}, func(f *runFlags) bool { return f.interval == 5 }},
		{[]string{"--election-ttl=0s"}, func(f *runFlags) bool { return f.electionTTL == 30*time.Second }},
		{[]string{"--election-ttl=1s"}, func(f *runFlags) bool { return f.electionTTL == leastTTL }},
		{nil, func(f *runFlags) bool { return f.hookPatience == 10*time.Second && f.postShutdownGrace == longestGrace }},
		{[]string{"--post-shutdown-grace-period=3"}, func(f *runFlags) bool { return f.hookPatience == 3*time.Second }},
		{[]string{"--post-shutdown-grace-period=-1"}, func(f *runFlags) bool { return f.validate() != nil }},
		{[]string{"--state-dir=/x"}, func(f *runFlags) bool { return f.stateDir == "/x" }},
		{nil, func(f *runFlags) bool {
			return slices.Contains(imageStateDirs, f.stateDir) && f.oneCheck && f.validate() == nil
		}},
		{[]string{"-v=2", "--ingress-class", "a,b"}, func(f *runFlags) bool { return slices.Equal(f.IngressClasses, []string{"a", "b"}) }},
		{[]string{"--health-check-path=/alive"}, func(f *runFlags) bool { o, _ := f.options(); return o.HealthPath == "/alive" }},
		{nil, func(f *runFlags) bool { o, _ := f.options(); return o.HealthPath == "/healthz" }},
		{[]string{"--disable-svc-external-name"}, func(f *runFlags) bool { o, _ := f.options(); return o.DisableExternalName }},
	} {
		f, _, err := taking(t, test.args...)
		if err != nil || !test.want(f) {
			t.Errorf("%v: %v %+v", test.args, err, f)
		}
	}
	for _, args := range [][]string{{"--enable-metrics=perhaps"}, {"--status-port=many"}, {"--sync-period=1"}, {"--no-such-flag"}} {
		if _, _, err := taking(t, args...); err == nil {
			t.Errorf("%v is accepted", args)
		}
	}
}

// TestMissedFlagsAreWarnings: what somebody may miss is said louder.
func TestMissedFlagsAreWarnings(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"--enable-ssl-chain-completion":       "level=WARN",
		"--enable-ssl-chain-completion=false": "level=INFO",
		"--http-port=81":                      "",
	} {
		_, set, err := taking(t, given)
		said := saidOf(set)
		if err != nil || !strings.Contains(said, want) || strings.Count(said, "\n") != min(1, len(want)) {
			t.Errorf("%s: %v, %s", given, err, said)
		}
	}
}

func TestVersionFlag(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	command := called([]string{"/nginx-ingress-controller", "--version", "--http-port=80"})
	command.SetOut(&out)
	if err := command.Execute(); err != nil || !strings.HasPrefix(out.String(), "sluice "+version) {
		t.Errorf("%v: %q", err, out.String())
	}
}

// TestFirstUsable: the folder of the image; one below it if it is a volume, which
// belongs to somebody else; or one that can be made elsewhere.
func TestFirstUsable(t *testing.T) {
	t.Parallel()
	here := t.TempDir()
	own, file, missing := filepath.Join(here, "own"), filepath.Join(here, "file"), filepath.Join(here, "missing")
	if err := errors.Join(os.Mkdir(own, 0o700), os.WriteFile(file, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	const others = "/proc" // it is root's, and nobody can make a folder there
	foreign := filepath.Join(here, "foreign")
	if err := os.Symlink(own, foreign); err != nil {
		t.Fatal(err)
	}
	for want, dirs := range map[string][]string{
		own:               {own, missing},
		missing:           {file, foreign, missing, own},
		others + "/a/b":   {others + "/a/b", file},
		missing + "/../x": {others + "/a/b", missing + "/../x"},
	} {
		if got := firstUsable(dirs); got != want {
			t.Errorf("of %v: %s, want %s", dirs, got, want)
		}
	}
}
