package keys

import "reflect"

// kind describes a type of values.
type kind struct {
	// name is short, such as "size"; empty for a type that fields cannot have.
	name string
	// valid describes the valid values, as the continuation of "want ".
	valid string
	// byLine is set if the value is a list with an item in each line.
	byLine bool
}

var (
	anyBool   = kind{name: "bool", valid: `"true" or "false"`}
	anyNumber = kind{name: "int", valid: wholeNumber}
)

// kinds are the kinds of the types in this package, which all have UnmarshalText.
var kinds = map[reflect.Type]kind{
	reflect.TypeFor[Optional[bool]]():  anyBool,
	reflect.TypeFor[Optional[int]]():   anyNumber,
	reflect.TypeFor[Auto]():            {name: "int or auto", valid: `"auto" or a whole number from 1 to 1024`},
	reflect.TypeFor[Duration]():        {name: "duration", valid: `a time such as "30s", "10m" or "1h"`},
	reflect.TypeFor[Size]():            {name: "size", valid: `a size such as "512", "8k", "10m" or "1g"`},
	reflect.TypeFor[Buffers]():         {name: "number and size", valid: `a number from 1 to 1024 and a size from 512 to 1g, such as "4 8k"`},
	reflect.TypeFor[Risk]():            {name: "risk", valid: `"Low", "Medium", "High" or "Critical"`},
	reflect.TypeFor[Words]():           {name: "words", valid: "words separated by spaces"},
	reflect.TypeFor[Methods]():         {name: "method list", valid: `HTTP methods separated by commas, such as "GET, PUT"`},
	reflect.TypeFor[HeaderNames]():     {name: "header list", valid: `names of headers separated by commas, such as "Content-Type, X-Request-ID"`},
	reflect.TypeFor[CIDRs]():           {name: "cidr list", valid: `IP addresses and networks separated by commas, such as "10.0.0.0/8, 2001:db8::/32"`},
	reflect.TypeFor[Origins]():         {name: "origin list", valid: `"*" or origins with their scheme separated by commas, such as "https://example.com, https://*.example.com:8443"`},
	reflect.TypeFor[ServerNames]():     {name: "server names", valid: `server names separated by commas, such as "www.example.com, *.example.org, ~^api[0-9]+\.example\.net$"`},
	reflect.TypeFor[Dictionaries]():    {name: "names and sizes", valid: `certificate_data and configuration_data, each with a size from 1m to 1g, such as "certificate_data: 128m, configuration_data: 64m"`},
	reflect.TypeFor[ResponseHeaders](): {name: "header lines", valid: `lines such as "X-Frame-Options: DENY", at most 64, each header once; a line without a value removes the header`, byLine: true},
	reflect.TypeFor[RequestHeaders]():  {name: "header lines", valid: `lines such as "X-Tenant: blue", at most 64, each header once; a line without a value removes the header`, byLine: true},
	reflect.TypeFor[Replacements]():    {name: "replacements", valid: `lines such as "old => new", at most 64, each old text once`, byLine: true},
	reflect.TypeFor[CookieFlags]():     {name: "cookie flags", valid: `lines such as "session secure httponly samesite=lax", at most 64, each with the name of a cookie or *, and flags`, byLine: true},
	reflect.TypeFor[BlockedTexts]():    {name: "texts and patterns", valid: "at most 1000 texts separated by commas, each of at most 500 bytes, or ~ or ~* and a regular expression without named groups"},
	reflect.TypeFor[DeniedPaths]():     {name: "paths", valid: `lines such as "/admin", "/internal/* 404" or "~ \.git", at most 64`, byLine: true},
	reflect.TypeFor[Redirects]():       {name: "redirects", valid: `lines such as "/old /new 302" or "/old/* https://example.com/new/*", at most 64, each path once`, byLine: true},
	reflect.TypeFor[StatusPairs]():     {name: "statuses", valid: `lines such as "495 496 = 401", at most 64`, byLine: true},
	reflect.TypeFor[LogShares]():       {name: "shares", valid: `statuses or classes with a percentage among 0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50 or 100, such as "2xx=1% 404=50%", at most 16, each once`},
	reflect.TypeFor[HeaderMatches]():   {name: "matches", valid: `lines such as "X-Tenant: blue" or "User-Agent: ~.*Mobile.*", at most 16, each header once`, byLine: true},
	reflect.TypeFor[QueryMatches]():    {name: "matches", valid: `lines such as "version: 2" or "version: ~[23]", at most 16, each parameter once`, byLine: true},
	reflect.TypeFor[AnnotationLines](): {name: "annotation lines", valid: `lines such as "proxy-read-timeout: 30"`, byLine: true},
	reflect.TypeFor[CacheTimes]():      {name: "cache times", valid: `items separated by commas, each of statuses and a time, such as "200 202 5m, 401 30s"`},
	reflect.TypeFor[Authorities]():     {name: "certificates", valid: `certificates in PEM, each from "-----BEGIN CERTIFICATE-----" to "-----END CERTIFICATE-----"`},
	reflect.TypeFor[TicketKey]():       {name: "key", valid: "48 or 80 bytes in base64, as `openssl rand -base64 80` prints them"},
	reflect.TypeFor[StatusRange]():     {name: "statuses", valid: `a status from 100 to 599, or a range such as "200-399"`},
	reflect.TypeFor[QuestionSnippet](): {name: "snippet", valid: `directives of nginx, each with its ";" and each block with its "}", that set no variables and reach nothing outside of the location`},
	reflect.TypeFor[ServerSnippet]():   {name: "snippet", valid: `directives of nginx, each with its ";" and each block with its "}", that reach nothing outside of the server`},
	reflect.TypeFor[StreamSnippet]():   {name: "snippet", valid: `directives of nginx for the stream level, each with its ";" and each block with its "}"`},
	reflect.TypeFor[GlobalSnippet]():   {name: "snippet", valid: `directives of nginx, each with its ";" and each block with its "}", that leave nginx to Sluice`},
	reflect.TypeFor[MainSnippet]():     {name: "snippet", valid: `directives of nginx for the main level, each with its ";", that Sluice does not write`},
	reflect.TypeFor[SnippetUses]():     {name: "snippet uses", valid: `names of snippets on lines of their own, each followed by its arguments as NAME=VALUE, such as "block-agents agent=robot status=403"`},
	reflect.TypeFor[SecRules]():        {name: "rules", valid: `directives of ModSecurity on lines of their own, such as SecRuleEngine On, that reach nothing outside of the location`},
	reflect.TypeFor[Snippet]():         {name: "snippet", valid: `directives of nginx, each with its ";" and each block with its "}", that reach nothing outside of the location`},
}

// kindOf returns the kind of a type, the zero value if fields cannot have the type.
func kindOf(t reflect.Type) kind {
	if k, ok := kinds[t]; ok || reflect.PointerTo(t).Implements(unmarshaler) {
		return k
	}
	switch {
	case t.Kind() == reflect.String:
		return kind{name: "string", valid: "one line of text"}
	case t.Kind() == reflect.Bool:
		return anyBool
	case t.Kind() == reflect.Int:
		return anyNumber
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String:
		return kind{name: "list", valid: "a list separated by commas"}
	}
	return kind{}
}
