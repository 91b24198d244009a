package annotations

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"sluice/internal/keys"
)

// CORS lets scripts of other origins read the answers (Fetch standard,
// https://fetch.spec.whatwg.org/#http-cors-protocol).
type CORS struct {
	Enabled     bool             `key:"enable-cors" default:"false" off:"false f 0 no off" risk:"low" doc:"Whether answers carry CORS headers and preflight requests are answered."`
	Origins     keys.Origins     `key:"cors-allow-origin" default:"*" risk:"medium" needs:"enable-cors" doc:"Origins that may read the answers; *. at the front of a host stands for one label."`
	Methods     keys.Methods     `key:"cors-allow-methods" default:"GET, PUT, POST, DELETE, PATCH, OPTIONS" alone:"true" risk:"medium" needs:"enable-cors" doc:"Methods that scripts may use."`
	Headers     keys.HeaderNames `key:"cors-allow-headers" default:"DNT,Keep-Alive,User-Agent,X-Requested-With,If-Modified-Since,Cache-Control,Content-Type,Range,Authorization" alone:"true" risk:"medium" validate:"excludes=*" needs:"enable-cors" doc:"Headers that scripts may send."`
	Expose      keys.HeaderNames `key:"cors-expose-headers" alone:"true" risk:"medium" needs:"enable-cors" doc:"Headers that scripts may read."`
	Credentials bool             `key:"cors-allow-credentials" default:"true" alone:"true" risk:"low" needs:"enable-cors" doc:"Whether cookies and authentication may be sent."`
	MaxAge      int              `key:"cors-max-age" default:"1728000" alone:"true" risk:"low" validate:"min=-1,max=2147483647" needs:"enable-cors" unit:"seconds" doc:"Seconds for which a browser remembers the answer to a preflight request; -1 forbids it to."`
}

// corsBlock is what the templates of CORS print.
type corsBlock struct {
	// Headers are the headers of an answer to an origin that is let in.
	Headers []corsHeader
	// List names the list of origins and the headers; it is empty if all
	// origins are let in. Then there are no variables and every header is a
	// plain value. It is a hash of everything, so that Ingresses that say the
	// same share their entries in the maps and others never do.
	List string
	// Exact and Wildcards are the keys of the origins that are let in. A key
	// is "<list>/<origin>": all lists are in the same maps, so that their
	// number costs requests nothing.
	Exact, Wildcards []string
	// HideHSTS repeats what the location would else no longer inherit.
	HideHSTS bool
}

// corsHeader is one header of an answer.
type corsHeader struct {
	Name, Value string
	// Echo is set where the value is the request's origin.
	Echo bool
	// Variable is the name of the variable that holds the header's value, and
	// Upstream the one of what the backend said, which is left to origins
	// that are not let in. Both are empty if all origins are.
	Variable, Upstream string
}

// Print gives the headers, and the list where only some origins are let in.
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
	list = append(list,
		corsHeader{Name: "Access-Control-Allow-Methods", Value: string(c.Methods)},
		corsHeader{Name: "Access-Control-Allow-Headers", Value: string(c.Headers)})
	if c.Expose != "" {
		list = append(list, corsHeader{Name: "Access-Control-Expose-Headers", Value: string(c.Expose)})
	}
	return append(list, corsHeader{Name: "Access-Control-Max-Age", Value: strconv.Itoa(c.MaxAge)})
}

// setVariables names the variables after the header: for
// Access-Control-Max-Age cors_max_age and what nginx calls the header of the
// backend's answer.
func (h *corsHeader) setVariables() {
	name := strings.ToLower(strings.ReplaceAll(h.Name, "-", "_"))
	h.Variable = strings.Replace(name, "access_control", "cors", 1)
	h.Upstream = "upstream_http_" + name
}

// contentHash is the first half of a SHA-256 of values, in hexadecimal. Nobody
// finds a list of another's hash, and would get its entries.
func contentHash(values ...any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%#v", values))
	return hex.EncodeToString(sum[:16])
}
