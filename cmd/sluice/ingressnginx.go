package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"sluice/internal/report/status"
)

// ingressNginxCommand is /nginx-ingress-controller of ingress-nginx's image: sluice run with
// the flags of that program and the behaviour that its Deployments expect.
func ingressNginxCommand() *cobra.Command {
	var flags runFlags
	var showVersion bool
	command := &cobra.Command{
		Use:   ingressNginx,
		Short: "Serve the Ingresses of a cluster with nginx, with the flags of ingress-nginx",
		Long: "Serve the Ingresses of a cluster with nginx, with the flags of ingress-nginx.\n\n" +
			"This is sluice run for Deployments of ingress-nginx. These flags are accepted, but have no effect:\n" +
			listOf(inertNames()),
		Args: onlyFlags(""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if showVersion {
				versionCommand().Run(cmd, nil)
				return nil
			}
			return flags.logged(cmd, func(to streams, log *slog.Logger) error {
				tellInert(log, cmd.Flags())
				flags.fitIngressNginx()
				return run(cmd.Context(), &flags, to, log)
			})
		},
	}
	flags.add(command)
	flags.addIngressNginx(command.Flags())
	command.Flags().BoolVar(&showVersion, "version", false, "print the version and exit")
	return command
}

// addIngressNginx adds the flags that sluice run does not have, and changes the usage of
// those with another meaning.
func (f *runFlags) addIngressNginx(flags *pflag.FlagSet) {
	for _, i := range inerts {
		i.add(flags)
	}
	for name, usage := range map[string]string{
		"post-shutdown-grace-period": "the most seconds that the process waits for /wait-shutdown after nginx has ended; open requests have the ConfigMap's worker-shutdown-timeout to end",
		"shutdown-grace-period":      "seconds between failing readiness and stopping nginx, in which kube-proxy hears that the pod ends; ingress-nginx's default of 0 loses requests in each update",
		"health-check-path":          "path of the liveness check and the readiness check",
		"state-dir":                  "the only folder that Sluice writes to; if empty, the first usable one of " + strings.Join(imageStateDirs, ", "),
		"sync-rate-limit":            "the most reloads per second, after a burst of 5; 0.3, ingress-nginx's default, counts as not given",
	} {
		flags.Lookup(name).Usage = usage
	}
	flags.Lookup("state-dir").DefValue, f.stateDir = "", ""
	flags.Lookup("shutdown-grace-period").DefValue, f.shutdownGrace = strconv.Itoa(hearing), hearing
}

// hearing is how many seconds kube-proxy and load balancers have by default to hear that a pod ends.
const hearing = 5

// ingressNginxRate is the default of ingress-nginx's --sync-rate-limit. There it limits all
// changes, so that each can take 3.3 s.
const ingressNginxRate = 0.3

// fitIngressNginx interprets the values of flags like ingress-nginx.
func (f *runFlags) fitIngressNginx() {
	if float32(f.syncRateLimit) == float32(ingressNginxRate) {
		f.syncRateLimit = 10
	}
	f.interval = max(f.interval, int(status.LeastInterval/time.Second))
	if f.electionTTL <= 0 {
		f.electionTTL = 30 * time.Second
	}
	f.electionTTL = max(f.electionTTL, leastTTL)
	// nginx's worker-shutdown-timeout limits open requests. The process waits for the
	// preStop hook, which would die with it.
	if f.postShutdownGrace >= 0 && f.postShutdownGrace <= longestGrace {
		f.hookPatience, f.postShutdownGrace = time.Duration(f.postShutdownGrace)*time.Second, longestGrace
	}
	f.oneCheck = true
	if f.stateDir == "" {
		f.stateDir = firstUsable(imageStateDirs)
	}
}

// imageStateDirs are the state directories in the image: its own folder; one below that,
// for a volume that belongs to root; or the temporary folder, if the root file system is
// read-only and has no such volume.
var imageStateDirs = []string{"/var/lib/sluice", "/var/lib/sluice/state", "/tmp/sluice"}

// firstUsable returns the first folder that can be the state directory: it belongs to
// this user, or can be created. If there is none, it returns the first, for the error.
func firstUsable(dirs []string) string {
	at := slices.IndexFunc(dirs, func(dir string) bool {
		var info unix.Stat_t
		if unix.Lstat(dir, &info) != nil {
			return unix.Access(filepath.Dir(dir), unix.W_OK|unix.X_OK) == nil
		}
		return info.Mode&unix.S_IFMT == unix.S_IFDIR && int(info.Uid) == os.Geteuid() && unix.Access(dir, unix.W_OK|unix.X_OK) == nil
	})
	return dirs[max(at, 0)]
}

// tellInert logs once which of the given flags have no effect. It is a warning if one of
// them would change answers to clients.
func tellInert(log *slog.Logger, given *pflag.FlagSet) {
	level, reasons := slog.LevelInfo, []any{}
	given.Visit(func(flag *pflag.Flag) {
		i, is := inertNamed(flag.Name)
		if !is {
			return
		}
		reasons = append(reasons, "--"+flag.Name, "has no effect in Sluice: "+i.reason)
		if i.missed && flag.Value.String() != flag.DefValue {
			level = slog.LevelWarn
		}
	})
	if len(reasons) > 0 {
		log.Log(context.Background(), level, "some flags have no effect", reasons...)
	}
}

func listOf(names []string) string {
	var text strings.Builder
	width := 0
	for _, name := range names {
		if width += len(name) + 3; width > 100 {
			text.WriteString("\n")
			width = len(name)
		}
		fmt.Fprintf(&text, "--%s ", name)
	}
	return text.String()
}
