package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"sluice/internal/controller"
	"sluice/internal/debug"
	"sluice/internal/manifest"
	"sluice/internal/pid1"
	"sluice/internal/translate"
)

// runFlags are the flags of sluice run besides those of translateFlags.
type runFlags struct {
	translateFlags
	clusterFlags
	reportFlags
	metricsFlags
	webhookFlags
	manifests         string
	httpPort          int
	httpsPort         int
	healthzHost       string
	healthzPort       int
	stateDir          string
	templateDir       string
	geoIP             geoIPFlags
	nginxBinary       string
	nginxRoot         string
	nginxPIDFile      string
	nginxUser         string
	syncRateLimit     float64
	drainMemory       int
	shutdownGrace     int
	postShutdownGrace int
	logFormat         string
	profiling         bool
	profilerAddress   string
	profilerPort      int

	// oneCheck is for Deployments whose probes do not use /readyz.
	oneCheck bool
	// hookPatience is how long the process waits for a preStop hook after nginx has ended.
	hookPatience time.Duration
}

func runCommand() *cobra.Command {
	var flags runFlags
	command := &cobra.Command{
		Use:   "run",
		Short: "Serve the Ingresses of a cluster, or of a folder of manifests, with nginx",
		Long: "Serve the Ingresses of a cluster, or of a folder of manifests, with nginx.\n\n" +
			"The cluster is that of the pod, or of --kubeconfig. With --manifests, Sluice serves a folder instead. It\n" +
			"watches either and applies changes at once. It reports mistakes, which do not affect other objects. While\n" +
			"the API server is unavailable, Sluice goes on serving the last state. nginx runs as a child process and\n" +
			"writes only to the state directory.",
		Example: "  sluice run --kubeconfig ~/.kube/config --configmap ingress/sluice --http-port 8080 --https-port 8443\n" +
			"  sluice run --manifests docs/examples/shop --http-port 8080 --https-port 8443",
		Args: onlyFlags("a folder of manifests is given with --manifests"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return flags.logged(cmd, func(to streams, log *slog.Logger) error {
				return run(cmd.Context(), &flags, to, log)
			})
		},
	}
	flags.add(command)
	return command
}

func (f *runFlags) add(command *cobra.Command) {
	flags := command.Flags()
	f.translateFlags.add(flags)
	f.clusterFlags.add(flags)
	f.reportFlags.add(flags)
	f.metricsFlags.add(flags)
	f.webhookFlags.add(flags)
	flags.StringVar(&f.manifests, "manifests", "", "folder, file or - (standard input) with manifests to serve instead of a cluster")
	flags.IntVar(&f.httpPort, "http-port", 80, "port for HTTP")
	flags.IntVar(&f.httpsPort, "https-port", 443, "port for HTTPS")
	flags.Int("ssl-passthrough-proxy-port", 442, "a flag of ingress-nginx, without effect: HTTPS that is not passed through uses a unix socket")
	flags.StringVar(&f.healthzHost, "healthz-host", "", "address of the health checks; all if empty")
	flags.IntVar(&f.healthzPort, "healthz-port", 10254, "port of /healthz, /readyz and /metrics")
	flags.StringVar(&f.stateDir, "state-dir", defaultStateDir(), "the only folder that Sluice writes to")
	flags.StringVar(&f.templateDir, "template-dir", "", "folder with templates that replace the built-in ones; watched")
	f.geoIP.add(flags)
	flags.StringVar(&f.nginxBinary, "nginx-binary", os.Getenv("NGINX_BINARY"), "the nginx to run; found on the PATH if empty")
	flags.StringVar(&f.nginxRoot, "nginx-root", "/", "root file system with nginx, its modules and the Lua libraries")
	flags.StringVar(&f.nginxPIDFile, "nginx-pid-file", "", "do not run nginx; signal the one that wrote this file and reads nginx.conf in the state directory")
	flags.StringVar(&f.nginxUser, "nginx-user", "www-data", "user of the nginx workers if Sluice runs as root")
	flags.Float64Var(&f.syncRateLimit, "sync-rate-limit", 10, "the most reloads per second, after a burst of 5")
	flags.IntVar(&f.drainMemory, "drain-memory", 0, "megabytes for nginx workers of earlier configurations while their last requests end; if there is no room for one more, a reload waits for up to 10 s and then stops the oldest workers. 0 is four times the memory of one configuration's workers, at least 512")
	flags.IntVar(&f.shutdownGrace, "shutdown-grace-period", 0, "seconds between failing readiness and stopping nginx")
	flags.IntVar(&f.postShutdownGrace, "post-shutdown-grace-period", 10, "seconds that nginx has for open requests when stopping")
	flags.StringVar(&f.logFormat, "log-format", "text", "format of the controller's own lines on standard error: text or json; the access log has the setting access-log-format")
	flags.BoolVar(&f.profiling, "profiling", false, "serve profiles of this process at /debug/pprof/ of --profiler-address and --profiler-port; the debug socket always has them")
	flags.StringVar(&f.profilerAddress, "profiler-address", "127.0.0.1", "IP address of --profiling")
	flags.IntVar(&f.profilerPort, "profiler-port", 10245, "port of --profiling")
	f.hookPatience = 10 * time.Second
}

// options returns those of translateFlags for the chosen source.
func (f *runFlags) options() (translate.Options, error) {
	o, err := f.translateFlags.options()
	o.ManifestMode = f.manifests != ""
	return o, err
}

// defaultStateDir returns the folder of the system for root, because nginx's workers cannot
// enter root's home, and that of the user otherwise.
func defaultStateDir() string {
	return stateDirOf(os.Geteuid(), os.Getenv("XDG_STATE_HOME"))
}

func stateDirOf(user int, stateHome string) string {
	if stateHome != "" {
		return filepath.Join(stateHome, "sluice")
	}
	if user == 0 {
		return "/var/lib/sluice"
	}
	if home, err := os.UserHomeDir(); err == nil {
		return filepath.Join(home, ".local", "state", "sluice")
	}
	return filepath.Join(os.TempDir(), "sluice")
}

// run serves until SIGTERM or SIGINT.
func run(ctx context.Context, f *runFlags, to streams, log *slog.Logger) error {
	if err := f.validate(); err != nil {
		return usage(err)
	}
	appendOnly(os.Stdout, os.Stderr)
	garbage := spareMemory()
	source, cluster, err := f.open(log)
	if err != nil {
		return err
	}
	parts, err := assemble(ctx, f, to, log)
	if err != nil {
		return err
	}
	parts.options.Source, parts.cluster, parts.options.AfterRead = source, cluster, garbage.afterRead
	if cluster != nil {
		parts.options.Audience, parts.options.Missing = cluster, cluster.source.Missing
	}
	if parts.presented, err = parts.presentedBy(&f.webhookFlags); err != nil {
		return err
	}
	var c *controller.Controller
	parts.metered = parts.metrics(f, func() *debug.State { return c.State() })
	parts.options.Synced = parts.metered.Synced
	if parts.metered.Counts() {
		parts.traces.Hear(parts.metered.Exemplify)
	}
	if c, err = controller.New(parts.options); err != nil {
		return err
	}
	err = parts.serve(ctx, f, c)
	pid1.Linger(f.hookPatience, isHook)
	return err
}

// open returns the source of the objects, and the inCluster, which is nil for manifests.
func (f *runFlags) open(log *slog.Logger) (controller.Source, *inCluster, error) {
	if f.manifests == "" {
		cluster, err := openCluster(f, log)
		if err != nil {
			return nil, nil, err
		}
		return cluster.source, cluster, nil
	}
	source, err := manifest.Open(f.manifests, log)
	if err != nil {
		return nil, nil, usage(fmt.Errorf("--manifests: want a folder, a file or - for the standard input: %w", err))
	}
	return source, nil, nil
}
