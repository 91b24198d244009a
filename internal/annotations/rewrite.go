package annotations

// Regex makes the paths of the Ingress regular expressions; with the setting
// regex-scope: host, all paths of the host.
type Regex struct {
	Enabled bool `key:"use-regex" default:"false" risk:"low" doc:"Whether paths are regular expressions (PCRE, which ignore case)."`
}

// Rewrite changes the URI before a request is passed on.
type Rewrite struct {
	// Target is empty for no rewrite.
	Target string `key:"rewrite-target" risk:"medium" validate:"rewrite_target" doc:"URI that replaces the match of the path. $1 to $9 are the captures of its groups."`
	// LeftOut is set if the target is invalid.
	LeftOut bool
}

func (r *Rewrite) leaveOut() { r.LeftOut = true }

// ForwardedPrefix tells backends which part of the path a rewrite removed.
type ForwardedPrefix struct {
	Value string `key:"x-forwarded-prefix" risk:"medium" validate:"rewrite_target" needs:"rewrite-target" doc:"Header X-Forwarded-Prefix of requests with a rewritten path. $1 to $9 are the captures of the groups of the path."`
}

// SSLRedirect redirects plain HTTP to HTTPS.
type SSLRedirect struct {
	// WithCertificate applies to hosts with a certificate, Always to every host.
	WithCertificate   bool `key:"ssl-redirect" from:"ssl-redirect" risk:"low" doc:"Whether plain HTTP is redirected to HTTPS on hosts with a certificate."`
	Always            bool `key:"force-ssl-redirect" from:"force-ssl-redirect" off:"false f 0 no off" closes:"true" risk:"medium" doc:"Whether plain HTTP is redirected to HTTPS on hosts without a certificate, too."`
	KeepTrailingSlash bool `key:"preserve-trailing-slash" from:"preserve-trailing-slash" risk:"medium" doc:"Whether the redirect keeps a slash at the end of the URI."`
}
