// Package charts holds files of the chart that programs read.
package charts

import _ "embed"

// Names is names.yaml: the tree of all values that the chart takes.
//
//go:embed sluice/names.yaml
var Names []byte

// WithoutEffect is without-effect.yaml: the values that have no effect, with the reasons.
//
//go:embed sluice/without-effect.yaml
var WithoutEffect []byte
