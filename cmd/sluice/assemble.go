package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"time"

	"sluice/internal/controller"
	"sluice/internal/dynamic"
	"sluice/internal/metrics"
	"sluice/internal/model"
	"sluice/internal/nginx"
	"sluice/internal/ocsp"
	"sluice/internal/ports"
	"sluice/internal/prober"
	"sluice/internal/render"
	"sluice/internal/resolver"
	"sluice/internal/selfsigned"
	"sluice/internal/templatedir"
	"sluice/internal/tracing"
	"sluice/internal/translate"
	"sluice/rootfs"
)

// parts are the parts of a controller.
type parts struct {
	options controller.Options
	// cluster is nil for manifests.
	cluster *inCluster
	traces  *tracing.Exporter
	metered *metrics.Metrics
	// presented is nil without a webhook.
	presented presented
}

// assemble inspects the installed nginx, prepares the state directory and assembles the
// parts. It starts nothing.
func assemble(ctx context.Context, f *runFlags, to streams, log *slog.Logger) (*parts, error) {
	state, err := filepath.Abs(f.stateDir)
	if err != nil {
		return nil, fmt.Errorf("--state-dir: %w", err)
	}
	options, err := f.controllerOptions(state, log)
	if err != nil {
		return nil, err
	}
	client := dynamic.New(filepath.Join(state, "run", "control.sock"))
	options.Runtime = client
	options.Resolver = resolver.New(resolver.Options{Logger: log})
	options.Prober = prober.New(log)
	options.Stapler = ocsp.New(ocsp.Options{Logger: log})
	if err := f.findNginx(ctx, to, &options, client); err != nil {
		return nil, err
	}
	options.Limiter = nginx.NewLimiter(nginx.Limits{PerSecond: f.syncRateLimit, Workers: options.Process, DrainMemory: int64(f.drainMemory) << 20})
	if f.nginxPIDFile == "" {
		options.Ports = []ports.Port{{Flag: "http-port", Number: f.httpPort}, {Flag: "https-port", Number: f.httpsPort}}
	}
	if err := options.Templates.(*templatedir.Source).Watch(ctx); err != nil {
		return nil, err
	}
	if options.Databases, err = f.databases(ctx, state, log); err != nil {
		return nil, err
	}
	traces, err := tracing.Listen(filepath.Join(state, "run", model.TracesSocket), log)
	if err != nil {
		return nil, err
	}
	options.Configured = func(of controller.Configured) {
		traces.Configure(of.Tracing)
		to.level.set(of.Log.Level)
	}
	return &parts{options: options, traces: traces}, nil
}

// findNginx inspects nginx and claims the state directory for this process. Nothing is
// written there before.
func (f *runFlags) findNginx(ctx context.Context, to streams, options *controller.Options, client *dynamic.Client) error {
	how := nginx.Options{Binary: f.nginxBinary, Root: f.nginxRoot, StateDir: options.StateDir, PIDFile: f.nginxPIDFile, Logger: options.Log, Stdout: to.stdout, Stderr: to.stderr}
	if os.Geteuid() == 0 {
		how.User = f.nginxUser
		if _, err := user.Lookup(f.nginxUser); err != nil {
			return fmt.Errorf("--nginx-user: want the name of an account (got %q): %w", f.nginxUser, err)
		}
	}
	install, err := nginx.Inspect(ctx, how)
	if err != nil {
		return err
	}
	options.Log.Info("nginx found", "version", install.Version, "command", install.Command())
	if err := nginx.PrepareState(how); err != nil {
		return fmt.Errorf("--state-dir: want a folder that can be made and written to: %w", err)
	}
	options.Process = nginx.New(install, how, statusOf(client))
	if err := options.Process.Claim(); err != nil {
		return fmt.Errorf("--state-dir: %w", err)
	}
	options.Environment = environment(f, options.StateDir, install)
	options.Environment.User = how.User
	return writeState(options.StateDir)
}

func (f *runFlags) controllerOptions(state string, log *slog.Logger) (controller.Options, error) {
	translation, err := f.options()
	if err != nil {
		return controller.Options{}, err
	}
	translation.HTTPSPort = f.httpsPort
	translation.Reserved = f.reserved()
	translation.FallbackCertificate, err = selfsigned.Certificate(time.Now())
	if err != nil {
		return controller.Options{}, err
	}
	templates, err := templatedir.Open(f.templateDir, log)
	if err != nil && f.templateDir != "" {
		return controller.Options{}, fmt.Errorf("--template-dir: want a folder with all templates (got %q): %w", f.templateDir, err)
	}
	if err != nil {
		return controller.Options{}, err
	}
	if _, err := f.geoIP.options(state, log); err != nil {
		return controller.Options{}, usage(err)
	}
	return controller.Options{Templates: templates, Translate: translation, StateDir: state, Log: log}, nil
}

// reserved returns the ports of Sluice itself.
func (f *runFlags) reserved() []translate.ReservedPort {
	all := append(webPorts(f.httpPort, f.httpsPort), translate.ReservedPort{Number: f.healthzPort, Use: "--healthz-port"})
	if f.profiling {
		all = append(all, translate.ReservedPort{Number: f.profilerPort, Use: "--profiler-port"})
	}
	if number, is := f.webhookPort(); is {
		all = append(all, translate.ReservedPort{Number: number, Use: webhookFlag})
	}
	return all
}

// environment returns the facts of this machine for package render.
func environment(f *runFlags, state string, install nginx.Install) render.Environment {
	files := nginx.OpenFilesHere()
	return render.Environment{
		HTTPPort: f.httpPort, HTTPSPort: f.httpsPort, StateDir: state,
		Lua: filepath.Join(state, "lua"), LuaPath: install.LuaPath, LuaCPath: install.LuaCPath, Modules: install.Modules,
		Workers: nginx.CPUs(), OpenFiles: files.Hard, MostOpenFiles: files.Most, IPv6: hasIPv6(), Token: rand.Text(),
		Capabilities: controller.Capabilities(install.Capabilities), StreamModule: install.Capabilities.StreamModule(),
		HeadersMoreModule: install.Capabilities.HeadersMore, ModSecurityModule: install.Capabilities.ModSecurity, CoreRules: install.Capabilities.CoreRules,
		BrotliModule: install.Capabilities.Brotli, GeoIPModule: install.Capabilities.GeoIP, Metrics: f.metricsFlags.rendered(),
	}
}

// hasIPv6 reports whether the machine can listen on IPv6.
func hasIPv6() bool {
	listener, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		return false
	}
	listener.Close()
	return true
}

// writeState writes the Lua modules and the placeholder certificate.
func writeState(state string) error {
	target := filepath.Join(state, "lua")
	err := fs.WalkDir(rootfs.Lua, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return os.MkdirAll(filepath.Join(target, path), 0o755)
		}
		content, err := fs.ReadFile(rootfs.Lua, path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(target, path), content, 0o644)
	})
	if err != nil {
		return fmt.Errorf("write the Lua modules to the state directory: %w", err)
	}
	return selfsigned.WritePlaceholder(state, time.Now())
}

// statusOf asks nginx's workers over the control socket.
func statusOf(client *dynamic.Client) nginx.StatusFunc {
	return func(ctx context.Context) (nginx.Status, error) {
		answer, err := client.Status(ctx)
		if err != nil {
			return nginx.Status{}, err
		}
		status := nginx.Status{Load: answer.Load, Expected: answer.Expected}
		for _, worker := range answer.Workers {
			status.Workers = append(status.Workers, nginx.Worker{PID: worker.PID, Load: worker.Load})
		}
		certificates, backends := answer.Memory.Certificates, answer.Memory.Backends
		status.Memory = []nginx.Memory{
			{Name: "certificate_data", Size: certificates.Size, Used: certificates.Size - certificates.Free},
			{Name: "configuration_data", Size: backends.Size, Used: backends.Size - backends.Free},
		}
		return status, nil
	}
}
