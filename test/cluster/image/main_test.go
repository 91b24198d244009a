//go:build image

package image

import (
	"fmt"
	"os"
	"testing"

	"sluice/test/cluster"
)

func TestMain(m *testing.M) {
	if os.Getenv(insideVariable) != "" {
		if err := becomeContainer(); err != nil {
			fmt.Fprintln(os.Stderr, "container:", err)
		}
		os.Exit(1) // the program of the container took this process's place otherwise
	}
	cluster.Main(m)
}
