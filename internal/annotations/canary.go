package annotations

// Canary sends some requests for the paths of another Ingress to the backends of this one.
type Canary struct {
	Enabled bool   `key:"canary" default:"false" off:"false f 0" withholds:"true" risk:"low" instead:"the Ingress is left out, as it would get all requests" doc:"Whether this Ingress gets some of the requests for paths of another Ingress on the same host, as the annotations below say. The rest of it has no effect."`
	Weight  int    `key:"canary-weight" default:"0" off:"0" alone:"true" risk:"low" validate:"min=0,max=2147483647" needs:"canary" doc:"Number of requests out of canary-weight-total that go to the canary, if no header or cookie decides."`
	Total   int    `key:"canary-weight-total" default:"100" alone:"true" risk:"low" validate:"min=1,max=2147483647" needs:"canary" doc:"Total for canary-weight. Less than 100 counts as 100."`
	Header  string `key:"canary-by-header" alone:"true" risk:"medium" validate:"header_name" needs:"canary" doc:"Header that decides, regardless of the weight, whether a request goes to the canary (\"always\") or not (\"never\")."`
	Value   string `key:"canary-by-header-value" alone:"true" risk:"medium" validate:"canary_value" needs:"canary-by-header" doc:"Value of that header for which a request goes to the canary, instead of \"always\" and \"never\"."`
	Cookie  string `key:"canary-by-cookie" alone:"true" risk:"medium" validate:"cookie_name" needs:"canary" doc:"Cookie that decides, if no header does and regardless of the weight, whether a request goes to the canary (\"always\") or not (\"never\")."`
}

// Parts returns the total of which Weight is a part, at least 100.
func (c *Canary) Parts() int { return max(c.Total, 100) }
