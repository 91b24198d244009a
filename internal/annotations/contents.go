package annotations

import (
	"strings"

	"sluice/internal/keys"
)

// RequestHeaders sets headers of the requests to the backends.
type RequestHeaders struct {
	Lines keys.RequestHeaders `key:"request-headers" own:"true" risk:"medium" closes:"true" doc:"Headers of the requests to the backends, in a line each. They replace those of the client. A line without a value removes the header of the client. Values can have variables: $remote_addr, $host, $scheme, $request_id, $request_method, $request_uri, $ssl_client_s_dn, $ssl_client_i_dn, $ssl_client_serial, $ssl_client_verify, $ssl_client_fingerprint, $ssl_protocol, $ssl_cipher, $http_NAME, $cookie_NAME and $arg_NAME."`
}

// SubFilter replaces texts in pages.
type SubFilter struct {
	Lines keys.Replacements `key:"sub-filter" own:"true" risk:"medium" doc:"Texts that nginx replaces in answers of the type text/html, in lines such as \"old => new\". It ignores the case of the old text. Backends are asked for answers without compression."`
}

// CookieFlags changes the flags of the cookies of backends.
type CookieFlags struct {
	Lines keys.CookieFlags `key:"cookie-flags" own:"true" risk:"low" doc:"Flags of cookies that backends set, in lines such as \"session secure httponly samesite=lax\"; * instead of a name stands for all cookies. The first line for a cookie counts. nosecure, nohttponly and nosamesite remove a flag."`
}

// cookieFlagsBlock is the data of the template of CookieFlags, with "~" for all cookies.
type cookieFlagsBlock struct{ Lines keys.CookieFlags }

// Print returns the flags with names as nginx takes them.
func (c CookieFlags) Print(Place) any {
	if len(c.Lines) == 0 {
		return nil
	}
	var block cookieFlagsBlock
	for _, line := range c.Lines {
		if line.Name == "*" {
			line.Name = "~"
		}
		block.Lines = append(block.Lines, line)
	}
	return block
}

// Caching tells browsers and caches how long they may keep answers.
type Caching struct {
	Expires string   `key:"expires" own:"true" risk:"low" validate:"expires" doc:"Time for which browsers and caches may keep an answer: nginx replaces the headers Expires and Cache-Control of the backend. epoch means not at all, max ten years, off no change. It holds for successful answers, redirects and 304."`
	Control []string `key:"cache-control" own:"true" risk:"low" validate:"max=20,dive,cache_directive" doc:"Value of the header Cache-Control of successful answers, redirects and 304, in place of that of the backend. Other answers, such as errors, keep theirs."`
}

// cachingBlock is the data of the templates of Caching. Variable has the value of
// Cache-Control; it is empty for none.
type cachingBlock struct{ Expires, Control, Variable string }

// Writes returns the headers that the block adds, with the keys that ask for them.
func (c cachingBlock) Writes() (all [][2]string) {
	if c.Expires != "" && c.Expires != "off" {
		all = append(all, [2]string{"Expires", "expires"}, [2]string{"Cache-Control", "expires"})
	}
	if c.Control != "" {
		all = append(all, [2]string{"Cache-Control", "cache-control"})
	}
	return all
}

// Print returns the directives.
func (c Caching) Print(Place) any {
	if c.Expires == "" && len(c.Control) == 0 {
		return nil
	}
	block := cachingBlock{Expires: c.Expires, Control: strings.Join(c.Control, ", ")}
	if block.Control != "" {
		block.Variable = "caching_" + contentHash(block.Control)
	}
	return block
}
