package annotations

import "sluice/internal/keys"

// ServerAlias gives a host further names.
type ServerAlias struct {
	Names keys.ServerNames `key:"server-alias" risk:"high" doc:"Further names of the hosts of the Ingress: what is served for a host is served for them too."`
	// LeftOut is set if names are written that are not valid.
	LeftOut bool
}

func (s *ServerAlias) leaveOut() { s.LeftOut = true }
