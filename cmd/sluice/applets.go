package main

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// The programs of ingress-nginx's image that this binary replaces.
const (
	ingressNginx = "nginx-ingress-controller"
	waitShutdown = "wait-shutdown"
	dbg          = "dbg"
)

// applet returns the command of one of them, nil for another name. With the applets, a
// Deployment of ingress-nginx works after changing only its image.
func applet(name string) *cobra.Command {
	switch name {
	case ingressNginx:
		return ingressNginxCommand()
	case waitShutdown:
		return waitShutdownCommand()
	case dbg:
		return dbgCommand()
	}
	return nil
}

var appletNames = []string{ingressNginx, waitShutdown, dbg}

// program splits the arguments of a process, args[0] included, into the program and its
// own arguments. An applet is called by its name, through a link to this binary, or by its
// path as the first argument: the entrypoint of the image is sluice, and the arguments of
// such a Deployment begin with /nginx-ingress-controller.
func program(args []string) (name string, its []string) {
	if len(args) == 0 {
		return "sluice", nil
	}
	if name := filepath.Base(args[0]); slices.Contains(appletNames, name) {
		return name, args[1:]
	}
	if len(args) > 1 && strings.HasPrefix(args[1], "/") && slices.Contains(appletNames, filepath.Base(args[1])) {
		return filepath.Base(args[1]), args[2:]
	}
	return "sluice", args[1:]
}

// called returns the command for the arguments of a process. It always sets the arguments,
// because cobra would use os.Args instead of nil.
func called(args []string) *cobra.Command {
	name, its := program(args)
	command := applet(name)
	if command == nil {
		command = root()
	}
	command.SilenceUsage, command.SilenceErrors = true, true
	command.SetFlagErrorFunc(flagError)
	command.SetArgs(append([]string{}, its...))
	return command
}

// isController reports whether the arguments of a process are those of a controller.
func isController(args []string) bool {
	name, its := program(args)
	return name == ingressNginx || name == "sluice" && slices.Contains(its[:min(1, len(its))], "run")
}

// isHook reports whether the arguments of a process are those of a preStop hook.
func isHook(args []string) bool {
	name, _ := program(args)
	return name == waitShutdown
}
