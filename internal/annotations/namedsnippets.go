package annotations

import "sluice/internal/keys"

// NamedSnippets adds directives that an administrator wrote, with arguments of the Ingress.
type NamedSnippets struct {
	Uses keys.SnippetUses `key:"snippets" own:"true" empty:"invalid" risk:"medium" protects:"true" doc:"Snippets of the administrator by their names, each with its arguments, on lines of their own. The flag --named-snippets names the ConfigMap with the snippets."`
}
