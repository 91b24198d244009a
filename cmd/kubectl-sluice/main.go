// Command kubectl-sluice is a plugin of kubectl that inspects Sluice. On the PATH it is
// `kubectl sluice`.
package main

import (
	"os"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"sluice/internal/plugin"
)

// version is set by build.sh.
var version = "development"

func main() {
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	os.Exit(plugin.Main(version, streams, os.Args[1:]))
}
