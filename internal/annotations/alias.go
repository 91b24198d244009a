package annotations

import "sluice/internal/keys"

// ServerAlias gives a host further names.
type ServerAlias struct {
	Names keys.ServerNames `key:"server-alias" risk:"high" costs:"all" doc:"Further names of the hosts of the Ingress. They serve the same as the hosts."`
	// LeftOut is set if the names are invalid.
	LeftOut bool
}

func (s *ServerAlias) leaveOut() { s.LeftOut = true }
