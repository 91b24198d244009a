package render

import "sluice/internal/model"

// clientTrustView is a model.ClientTrust with its files.
type clientTrustView struct {
	CA, Verify, Revoked string
	Depth               int
}

// tls prints the TLS of a server of its own.
func (s *serverRendering) tls() error {
	tls := s.server.TLS
	if tls == nil {
		return nil
	}
	entry := "own_certificate"
	if tls.Clients != nil {
		entry = "unresumed_certificate"
	}
	before := s.page.now()
	defer s.page.from(before)
	if err := s.page.execute(s.templates.core["server-tls"], s.env.entry(entry)); err != nil {
		return err
	}
	s.page.from(Origin{Object: tls.CiphersFrom, Behaviour: "ssl-ciphers", Host: s.server.Host})
	if err := s.page.execute(s.templates.core["server-ciphers"], tls); err != nil {
		return err
	}
	return s.clientTrust(tls.Clients)
}

// clientTrust prints the verification of clients, and adds its files.
func (s *serverRendering) clientTrust(c *model.ClientTrust) error {
	if c == nil {
		return nil
	}
	s.page.from(Origin{Object: c.Source, Behaviour: "client-certificates", Host: s.server.Host})
	files := []TrustFile{s.env.trustFile(c.CA)}
	view := &clientTrustView{CA: files[0].Path, Verify: c.Verify, Depth: c.Depth}
	if c.Revoked != "" {
		files = append(files, s.env.trustFile(c.Revoked))
		view.Revoked = files[1].Path
	}
	s.out.trust = files
	return s.page.execute(s.templates.core["client-trust"], view)
}
