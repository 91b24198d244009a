package main

import "github.com/spf13/cobra"

// ingressNginxCommand is /nginx-ingress-controller of ingress-nginx's image:
// sluice run, with the flags of that program.
func ingressNginxCommand() *cobra.Command {
	command := runCommand()
	command.Use = "nginx-ingress-controller"
	command.SilenceUsage, command.SilenceErrors = true, true
	return command
}
