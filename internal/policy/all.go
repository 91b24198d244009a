package policy

// all is the table of contents. Blocks are printed in this order.
var all = []behaviour{
	answering[CORS]("cors"),
	decorating[DenyList]("deny-list"),
	decorating[AllowList]("allow-list"),
	decorating[BodySize]("body-size"),
	decorating[BodyBuffer]("body-buffer"),
	decorating[Timeouts]("timeouts"),
	decorating[NextUpstream]("next-upstream"),
	decorating[UpstreamHost]("upstream-host"),
	decorating[ConnectionHeader]("connection-header"),
	redirected[Logs]("logs"),
	shaping[Regex]("regex"),
	shaping[Rewrite]("rewrite"),
	shaping[ForwardedPrefix]("forwarded-prefix"),
	shaping[Redirect]("redirect"),
	shaping[AppRoot]("app-root"),
	shaping[ServerAlias]("server-alias"),
	shaping[SSLRedirect]("ssl-redirect"),
	shaping[Transport]("transport"),
	shaping[Certificates]("certificates"),
	shaping[Passthrough]("ssl-passthrough"),
}

// All lists the behaviours, in the order in which they print.
func All() []Behaviour {
	list := make([]Behaviour, len(all))
	for i, b := range all {
		list[i] = b.Behaviour
	}
	return list
}
