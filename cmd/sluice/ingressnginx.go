package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"sluice/internal/report/status"
)

// ingressNginxCommand is /nginx-ingress-controller of ingress-nginx's image:
// sluice run, with the flags of that program, and what its Deployments expect.
func ingressNginxCommand() *cobra.Command {
	var flags runFlags
	var showVersion bool
	command := &cobra.Command{
		Use:   ingressNginx,
		Short: "Serve the Ingresses of a cluster with nginx, with the flags of ingress-nginx",
		Long: "Serve the Ingresses of a cluster with nginx, with the flags of ingress-nginx.\n\n" +
			"This is sluice run for Deployments that were made for ingress-nginx. Accepted, without effect:\n" +
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
	command.Flags().BoolVar(&showVersion, "version", false, "print the version and end")
	return command
}

// addIngressNginx adds the flags that sluice run does not have, and changes what
// it calls otherwise.
func (f *runFlags) addIngressNginx(flags *pflag.FlagSet) {
	for _, i := range inerts {
		i.add(flags)
	}
	for name, usage := range map[string]string{
		"post-shutdown-grace-period": "seconds that the process stays, at most, for /wait-shutdown to see that nginx has ended; open requests have the ConfigMap's worker-shutdown-timeout to end",
		"health-check-path":          "path of the liveness check, which is the readiness check, too",
		"state-dir":                  "the only folder that is written to; if empty, the first of " + strings.Join(imageStateDirs, ", ") + " that can be",
		"sync-rate-limit":            "reloads a second at most, after a burst of 5; ingress-nginx's default, 0.3, is taken for none given",
	} {
		flags.Lookup(name).Usage = usage
	}
	flags.Lookup("state-dir").DefValue, f.stateDir = "", ""
}

// ingressNginxRate is the default of ingress-nginx's --sync-rate-limit. It limits
// all changes there, so that each may take 3.3 s to be served.
const ingressNginxRate = 0.3

// fitIngressNginx takes the values of flags as ingress-nginx does.
func (f *runFlags) fitIngressNginx() {
	if float32(f.syncRateLimit) == float32(ingressNginxRate) {
		f.syncRateLimit = 10
	}
	f.interval = max(f.interval, int(status.LeastInterval/time.Second))
	if f.electionTTL <= 0 {
		f.electionTTL = 30 * time.Second
	}
	f.electionTTL = max(f.electionTTL, leastTTL)
	// Requests have as long as nginx gives them, by worker-shutdown-timeout. The
	// process stays on for the preStop hook, which would die with it.
	if f.postShutdownGrace >= 0 && f.postShutdownGrace <= longestGrace {
		f.hookPatience, f.postShutdownGrace = time.Duration(f.postShutdownGrace)*time.Second, longestGrace
	}
	f.oneCheck = true
	if f.stateDir == "" {
		f.stateDir = firstUsable(imageStateDirs)
	}
}

// imageStateDirs are where the state is kept in the image: the folder that it has
// for that; one below it if it is a volume, which belongs to root; or, where the
// root file system is read-only and has no such volume, the one that programs
// are given.
var imageStateDirs = []string{"/var/lib/sluice", "/var/lib/sluice/state", "/tmp/sluice"}

// firstUsable is the first folder that can be the state directory: it belongs to
// this user, or can be made. Where none is, the first is to be complained of.
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

// tellInert says, once, which flags were given that do nothing here. It is a
// warning if what one of them asks for would change what clients are answered.
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
