// Command cert-manager is the controllers, the CA injector and the HTTP-01 solver of
// cert-manager, each as a command of its own. Their mains are modules that the module proxy
// does not have; the packages are those of the release, with its defaults. The issuers of
// Vault and Venafi are left out.
//
//	cert-manager controller -kubeconfig FILE -nameserver HOST:PORT [-dns01-check-retry-period 10s] [-concurrent-workers 5]
//	cert-manager cainjector -kubeconfig FILE
//	cert-manager solver --listen-port=8089 --domain=... --token=... --key=...
package main

import (
	"fmt"
	"os"

	logf "github.com/cert-manager/cert-manager/pkg/logs"
	ctrl "sigs.k8s.io/controller-runtime"
)

func main() {
	logf.InitLogs()
	ctrl.SetLogger(logf.Log)
	ctx := logf.NewContext(ctrl.SetupSignalHandler(), logf.Log)
	commands := map[string]command{"controller": control, "cainjector": inject, "solver": solve}
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: cert-manager controller|cainjector|solver [flags]")
		os.Exit(2)
	}
	if err := commands[os.Args[1]](ctx, os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
