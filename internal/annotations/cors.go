package annotations

import (
	"fmt"
	"strconv"
	"strings"

	"sluice/internal/keys"
	"sluice/internal/model"
)

// CORS allows scripts of other origins to read answers.
// Source: https://fetch.spec.whatwg.org/#http-cors-protocol
type CORS struct {
	Enabled     bool             `key:"enable-cors" default:"false" off:"false f 0 no off" risk:"low" costs:"all" doc:"Whether answers have CORS headers and nginx answers preflight requests."`
	Origins     keys.Origins     `key:"cors-allow-origin" default:"*" risk:"medium" needs:"enable-cors" costs:"all" doc:"Origins that may read the answers. *. at the beginning of a host stands for one label."`
	Methods     keys.Methods     `key:"cors-allow-methods" default:"GET, PUT, POST, DELETE, PATCH, OPTIONS" risk:"medium" needs:"enable-cors" doc:"Methods that scripts may use."`
	Headers     keys.HeaderNames `key:"cors-allow-headers" default:"DNT,Keep-Alive,User-Agent,X-Requested-With,If-Modified-Since,Cache-Control,Content-Type,Range,Authorization" risk:"medium" validate:"excludes=*" needs:"enable-cors" doc:"Headers that scripts may send."`
	Expose      keys.HeaderNames `key:"cors-expose-headers" risk:"medium" needs:"enable-cors" doc:"Headers that scripts may read."`
	Credentials bool             `key:"cors-allow-credentials" default:"true" risk:"low" needs:"enable-cors" invalid:"zero" instead:"scripts send no credentials" doc:"Whether scripts may send cookies and authentication."`
	MaxAge      int              `key:"cors-max-age" default:"1728000" risk:"low" validate:"min=-1,max=2147483647" needs:"enable-cors" unit:"seconds" doc:"Seconds for which a browser remembers the answer to a preflight request. -1 means that it must not."`
}

// corsBlock is the data of the templates of CORS.
type corsBlock struct {
	// Headers are the headers of answers to allowed origins.
	Headers []corsHeader
	// List is a hash of the allowed origins and the headers. Ingresses with the same list
	// share its entries in the maps. It is empty if all origins are allowed: then there
	// are no variables, and every header has a fixed value.
	List string
	// Exact and Wildcards are keys for the allowed origins. A key is "<list>/<origin>",
	// so that all lists are in the same maps and their number costs requests nothing.
	Exact, Wildcards []string
	// HideHSTS repeats a directive that the location would no longer inherit.
	HideHSTS bool
}

// corsHeader is one header of an answer.
type corsHeader struct {
	Name, Value string
	// Echo is set if the value is the origin of the request.
	Echo bool
	// Variable is the name of the variable with the value of the header. Upstream is the
	// variable with the value from the backend, which other origins get. Both are empty if
	// all origins are allowed.
	Variable, Upstream string
}

// Writes returns the headers that the block adds, with the key that asks for them.
func (c corsBlock) Writes() (all [][2]string) {
	for _, header := range c.Headers {
		all = append(all, [2]string{header.Name, "enable-cors"})
	}
	return all
}

// Print returns the headers, and the list if only some origins are allowed.
func (c CORS) Print(at Place) any {
	if !c.Enabled || len(c.Origins) == 0 {
		return nil
	}
	b := corsBlock{Headers: c.headers(), HideHSTS: at.Settings.HSTS.Enabled}
	if c.Origins.Any() {
		return b
	}
	b.List = contentHash(c.Origins, b.Headers)
	for _, origin := range c.Origins {
		if key := b.List + "/" + origin; strings.Contains(origin, "*") {
			b.Wildcards = append(b.Wildcards, key)
		} else {
			b.Exact = append(b.Exact, key)
		}
	}
	for i := range b.Headers {
		b.Headers[i].setVariables()
	}
	return b
}

func (c CORS) headers() []corsHeader {
	list := []corsHeader{{Name: "Access-Control-Allow-Origin", Value: "*", Echo: !c.Origins.Any()}}
	if c.Credentials {
		list = append(list, corsHeader{Name: "Access-Control-Allow-Credentials", Value: "true"})
	}
	for _, names := range []corsHeader{
		{Name: "Access-Control-Allow-Methods", Value: string(c.Methods)}, {Name: "Access-Control-Allow-Headers", Value: string(c.Headers)},
		{Name: "Access-Control-Expose-Headers", Value: string(c.Expose)},
	} {
		if names.Value != "" {
			list = append(list, names)
		}
	}
	return append(list, corsHeader{Name: "Access-Control-Max-Age", Value: strconv.Itoa(c.MaxAge)})
}

// setVariables sets the variables. For Access-Control-Max-Age they are cors_max_age and
// upstream_http_access_control_max_age.
func (h *corsHeader) setVariables() {
	name := strings.ToLower(strings.ReplaceAll(h.Name, "-", "_"))
	h.Variable = strings.Replace(name, "access_control", "cors", 1)
	h.Upstream = "upstream_http_" + name
}

// contentHash returns the first half of the SHA-256 of values, in hexadecimal, which is
// long enough against collisions: with one, an Ingress would get the entries of another.
func contentHash(values ...any) string {
	return model.SHA256(fmt.Sprintf("%#v", values))[:32]
}
