package annotations

// Canary sends some requests for the paths of another Ingress to the backends of this one.
type Canary struct {
	Enabled bool   `key:"canary" default:"false" off:"false f 0" withholds:"true" risk:"low" instead:"the Ingress is left out, as it would get all requests" doc:"Whether this Ingress gets some of the requests for paths of another Ingress on the same host, as the annotations below say. The rest of it has no effect."`
	Weight  int    `key:"canary-weight" default:"0" off:"0" risk:"low" validate:"min=0,max=2147483647" needs:"canary" doc:"Number of requests out of canary-weight-total that go to the canary, if no header or cookie decides."`
	Total   int    `key:"canary-weight-total" default:"100" risk:"low" validate:"min=1,max=2147483647" needs:"canary" doc:"Total for canary-weight. Less than 100 counts as 100."`
	Header  string `key:"canary-by-header" risk:"medium" validate:"any_header_name" needs:"canary" doc:"Header that decides, regardless of the weight, whether a request goes to the canary (\"always\") or not (\"never\"). nginx compares names with - and with _ as one: X_Version is decided by the header X-Version, and by X_Version itself with enable-underscores-in-headers."`
	Value   string `key:"canary-by-header-value" risk:"medium" validate:"max=1024,canary_value" needs:"canary-by-header" doc:"Value of that header for which a request goes to the canary, instead of \"always\" and \"never\"."`
	Pattern string `key:"canary-by-header-pattern" risk:"medium" validate:"max=1024,canary_pattern" needs:"canary-by-header" doc:"Regular expression. A request goes to the canary if it matches a part of that header, instead of \"always\" and \"never\". canary-by-header-value takes precedence."`
	Cookie  string `key:"canary-by-cookie" risk:"medium" validate:"cookie_name" needs:"canary" doc:"Cookie that decides, if no header does and regardless of the weight, whether a request goes to the canary (\"always\") or not (\"never\")."`
	Sticky  string `key:"affinity-canary-behavior" default:"sticky" risk:"low" validate:"oneof=sticky legacy" needs:"canary" doc:"Whether clients that the canary gets stay with it and with one of its endpoints (sticky), if the Ingress whose paths it shares has affinity. With legacy, only clients of the main Ingress stay."`
}

// IsLegacy reports whether clients do not stay with the canary.
func (c *Canary) IsLegacy() bool { return c.Sticky == "legacy" }

// Parts returns the total of which Weight is a part, at least 100.
func (c *Canary) Parts() int { return max(c.Total, 100) }

// PartOf returns the part of a total that Weight is, Weight itself for its own total.
func (c *Canary) PartOf(total int) int {
	if total == c.Parts() {
		return c.Weight
	}
	return int(int64(min(c.Weight, c.Parts())) * int64(total) / int64(c.Parts()))
}
