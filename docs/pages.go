// Package docs holds pages of the documentation that programs show parts of.
package docs

import _ "embed"

// Differences is differences.md.
//
//go:embed differences.md
var Differences string
