package main

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// applets are the programs of ingress-nginx's image that this binary is, too, by
// the names it is called by there. They keep a Deployment made for ingress-nginx
// working when only its image is changed.
var applets = map[string]func() *cobra.Command{
	"nginx-ingress-controller": ingressNginxCommand,
	"wait-shutdown":            waitShutdownCommand,
	"dbg":                      dbgCommand,
}

// called is the command that the arguments of the process ask for, args[0]
// included. An applet is called by its own name, as a link to this binary is, or
// by its path as the first argument: an image's entrypoint is sluice, and the
// arguments of such a Deployment begin with /nginx-ingress-controller.
func called(args []string) *cobra.Command {
	if len(args) == 0 {
		return root()
	}
	if make, is := applets[filepath.Base(args[0])]; is {
		return withArguments(make(), args[1:])
	}
	if len(args) > 1 && strings.HasPrefix(args[1], "/") {
		if make, is := applets[filepath.Base(args[1])]; is {
			return withArguments(make(), args[2:])
		}
	}
	return withArguments(root(), args[1:])
}

// withArguments gives a command its arguments. It never takes those of the
// process instead, which cobra does where it is given nil.
func withArguments(command *cobra.Command, args []string) *cobra.Command {
	command.SetArgs(append([]string{}, args...))
	return command
}
