package annotations

import (
	"sluice/internal/keys"
	"sluice/internal/model"
)

// ConfigurationSnippet contains nginx directives for each location of the Ingress. They
// follow those of the other annotations.
type ConfigurationSnippet struct {
	Text keys.Snippet `key:"configuration-snippet" empty:"zero" risk:"critical" allowed:"allow-snippet-annotations" protects:"true" doc:"Directives of nginx for the locations of the paths. Sluice copies them unchanged."`
}

func (c ConfigurationSnippet) place(b *model.Block) { c.Text.Place(b) }

// ServerSnippet contains nginx directives for the servers of the hosts.
type ServerSnippet struct {
	Text keys.ServerSnippet `key:"server-snippet" empty:"zero" risk:"critical" allowed:"allow-snippet-annotations" protects:"true" doc:"Directives of nginx for the servers of the hosts, before the locations. Sluice copies them unchanged."`
}

// StreamSnippet contains nginx directives beside the TCP and UDP services.
type StreamSnippet struct {
	Text keys.StreamSnippet `key:"stream-snippet" empty:"zero" risk:"critical" allowed:"allow-snippet-annotations" costs:"all" doc:"Directives of nginx for the stream level, such as servers for TCP or UDP. Sluice copies them unchanged."`
}
