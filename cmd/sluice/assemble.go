package main

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"sluice/internal/controller"
	"sluice/internal/dynamic"
	"sluice/internal/nginx"
	"sluice/internal/render"
	"sluice/rootfs"
)

// parts are what a controller is made of.
type parts struct {
	options controller.Options
}

// assemble looks at the nginx that is there, prepares the state directory and
// puts the parts together. It starts nothing.
func assemble(ctx context.Context, f *runFlags, log *slog.Logger) (*parts, error) {
	state, err := filepath.Abs(f.stateDir)
	if err != nil {
		return nil, fmt.Errorf("--state-dir: %w", err)
	}
	stdout, err := reopenable(os.Stdout)
	if err != nil {
		return nil, err
	}
	socket := filepath.Join(state, "run", "control.sock")
	client := dynamic.New(socket)
	nginxOptions := nginx.Options{Binary: f.nginxBinary, Root: f.nginxRoot, StateDir: state, PIDFile: f.nginxPIDFile, Logger: log, Stdout: stdout}
	if os.Geteuid() == 0 {
		nginxOptions.User = f.nginxUser
	}
	install, err := nginx.Inspect(ctx, nginxOptions)
	if err != nil {
		return nil, err
	}
	log.Info("nginx found", "version", install.Version, "command", install.Command())
	if err := nginx.PrepareState(nginxOptions); err != nil {
		return nil, err
	}
	if err := writeState(state); err != nil {
		return nil, err
	}
	options, err := f.controllerOptions(state, log)
	if err != nil {
		return nil, err
	}
	if err := options.Templates.(*controller.TemplateSource).Watch(ctx); err != nil {
		return nil, err
	}
	options.Environment = environment(f, state, install)
	options.Environment.User = nginxOptions.User
	options.Process = nginx.New(install, nginxOptions, statusOf(client))
	options.Limiter = nginx.NewLimiter(nginx.Limits{PerSecond: f.syncRateLimit, Draining: func() int64 {
		_, memory := options.Process.Draining()
		return memory
	}})
	options.Runtime = client
	if f.nginxPIDFile == "" {
		options.Ports = []controller.Port{{Flag: "http-port", Number: f.httpPort}, {Flag: "https-port", Number: f.httpsPort}}
	}
	options.Resolver = dynamic.NewResolver(dynamic.ResolverOptions{Logger: log})
	return &parts{options: options}, nil
}

func (f *runFlags) controllerOptions(state string, log *slog.Logger) (controller.Options, error) {
	translation, err := f.options()
	if err != nil {
		return controller.Options{}, err
	}
	translation.HTTPSPort = f.httpsPort
	translation.FallbackCertificate, err = controller.SelfSigned(time.Now())
	if err != nil {
		return controller.Options{}, err
	}
	templates, err := controller.OpenTemplates(f.templateDir, log)
	if err != nil {
		return controller.Options{}, err
	}
	return controller.Options{Templates: templates, Translate: translation, StateDir: state, Log: log}, nil
}

// environment is what render must know of this machine.
func environment(f *runFlags, state string, install nginx.Install) render.Environment {
	return render.Environment{
		HTTPPort: f.httpPort, HTTPSPort: f.httpsPort, StateDir: state,
		Lua: filepath.Join(state, "lua"), LuaPath: install.LuaPath, LuaCPath: install.LuaCPath, Modules: install.Modules,
		Workers: runtime.GOMAXPROCS(0), IPv6: hasIPv6(),
		Capabilities: render.Capabilities{HTTP2Directive: install.Capabilities.HTTP2Directive},
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

// writeState writes the Lua of the binary and the placeholder certificate.
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
	return controller.WritePlaceholder(state, time.Now())
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
		return status, nil
	}
}
