//go:build tools

// Package tools names the programs of others that the documentation tells users
// to run, so that go.mod pins them; build.sh builds them.
package tools

import (
	_ "helm.sh/helm/v4/cmd/helm"
)
