package annotations

import "sluice/internal/keys"

// DenyPaths refuses requests for some paths.
type DenyPaths struct {
	Lines keys.DeniedPaths `key:"deny-paths" own:"true" empty:"invalid" risk:"low" protects:"true" doc:"Paths that nginx refuses with 403, in a line each: a path, a beginning such as /internal/* with all below it, or ~ and a regular expression. 404 behind a path is the status instead. It compares the decoded path of the request, before any rewrite, in whatever case. A pattern may take 20,000 steps, and more than ten with several long repetitions share the steps of ten; beyond, nginx answers 500."`
}

// Redirects redirects some paths of the hosts.
type Redirects struct {
	Lines keys.Redirects `key:"redirects" own:"true" risk:"medium" instead:"nothing is redirected" costs:"all" doc:"Redirects on all hosts of the Ingress, in lines such as \"/old /new 302\": a path, or all below it as in \"/old/* /new/*\", and a path or a URL. Without a status it is 301. The query is kept unless the target has one. They come before the paths of the Ingress; on a host whose paths are patterns, the longest comes first, but a redirect also comes before a path of its Ingress that takes all its requests."`
}

// Match limits an Ingress to the requests with some headers or parameters.
type Match struct {
	Headers keys.HeaderMatches `key:"match-headers" own:"true" empty:"invalid" risk:"medium" withholds:"true" instead:"the Ingress is not served, as it would get all requests" doc:"Headers of the requests that the paths take, in lines such as \"X-Tenant: blue\" or, with a regular expression for the whole value, \"User-Agent: ~.*Mobile.*\". All lines must match. Other requests go to Ingresses with the same or a shorter path."`
	Query   keys.QueryMatches  `key:"match-query" own:"true" empty:"invalid" risk:"medium" withholds:"true" instead:"the Ingress is not served, as it would get all requests" doc:"Parameters of the query of the requests that the paths take, in lines such as \"version: 2\" or \"version: ~[23]\". All lines must match."`
}
