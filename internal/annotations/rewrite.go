package annotations

// Regex makes the paths of the Ingress regular expressions (and, by the
// setting regex-scope, those of the whole host).
type Regex struct {
	Enabled bool `key:"use-regex" default:"false" risk:"low" doc:"Whether paths are regular expressions (PCRE, upper and lower case the same)."`
}

// Rewrite changes the URI before a request is passed on.
type Rewrite struct {
	// Target is empty for no rewrite.
	Target string `key:"rewrite-target" risk:"medium" validate:"rewrite_target" doc:"URI that replaces what the path matched; $1 to $9 are what its groups captured."`
	// LeftOut is set if a target is written that is not valid.
	LeftOut bool
}

func (r *Rewrite) leaveOut() { r.LeftOut = true }

// AskForPatterns is true if paths are patterns by use-regex or by a rewrite with a
// mistake in it: what the neighbours on the host get must not depend on the mistake.
func (a *Annotations) AskForPatterns() bool { return a.Regex.Enabled || a.Rewrite.LeftOut }

// ForwardedPrefix tells the backends what a rewrite took off the path.
type ForwardedPrefix struct {
	Value string `key:"x-forwarded-prefix" risk:"medium" validate:"rewrite_target" needs:"rewrite-target" doc:"Header X-Forwarded-Prefix of requests whose path was rewritten; $1 to $9 are what the groups of the path captured."`
}

// SSLRedirect redirects plain HTTP to HTTPS.
type SSLRedirect struct {
	// WithCertificate redirects on hosts that have a certificate, Always on
	// every host.
	WithCertificate   bool `key:"ssl-redirect" from:"ssl-redirect" risk:"low" doc:"Whether plain HTTP is redirected to HTTPS where the host has a certificate."`
	Always            bool `key:"force-ssl-redirect" from:"force-ssl-redirect" off:"false f 0 no off" closes:"true" risk:"medium" doc:"Whether plain HTTP is redirected to HTTPS where the host has no certificate too."`
	KeepTrailingSlash bool `key:"preserve-trailing-slash" from:"preserve-trailing-slash" risk:"medium" doc:"Whether the redirect keeps a slash at the end of the URI."`
}
