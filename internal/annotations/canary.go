package annotations

// Canary gives some requests of the paths of another Ingress to the backends of this
// one, which has no paths of its own.
type Canary struct {
	Enabled bool `key:"canary" default:"false" off:"false f 0" withholds:"true" risk:"low" instead:"the Ingress is left out, as it would get all requests" doc:"Whether this Ingress gets some requests of the paths that another Ingress of the host has, by the annotations below. The rest of it has no effect."`
	Weight  int  `key:"canary-weight" default:"0" off:"0" alone:"true" risk:"low" validate:"min=0,max=2147483647" needs:"canary" doc:"How many requests of canary-weight-total go to the canary, if no header decides."`
	// Total is at least 100 when it counts.
	Total  int    `key:"canary-weight-total" default:"100" alone:"true" risk:"low" validate:"min=1,max=2147483647" needs:"canary" doc:"What canary-weight is a part of; less than 100 is 100."`
	Header string `key:"canary-by-header" alone:"true" risk:"medium" validate:"header_name" needs:"canary" doc:"Header by which a request goes to the canary (\"always\") or does not (\"never\"), whatever the weight."`
	Value  string `key:"canary-by-header-value" alone:"true" risk:"medium" validate:"canary_value" needs:"canary-by-header" doc:"Value of that header with which a request goes to the canary, instead of \"always\" and \"never\"."`
	Cookie string `key:"canary-by-cookie" alone:"true" risk:"medium" validate:"cookie_name" needs:"canary" doc:"Cookie by which a request goes to the canary (\"always\") or does not (\"never\"), where no header decides, whatever the weight."`
}

// Parts is what Weight is a part of.
func (c *Canary) Parts() int { return max(c.Total, 100) }
