package annotations

import "sluice/internal/keys"

// CustomErrors has another Service answer in place of errors, and of a Service without
// endpoints.
type CustomErrors struct {
	// Fallback is empty for none. Statuses come before Codes.
	Fallback string           `key:"fallback-path" own:"true" risk:"low" validate:"max=500,fallback_path" doc:"Path of the backend whose page answers GET and HEAD in place of its 404, with the status of that page: the start page of a single-page application. Other methods get 404."`
	Statuses keys.StatusPairs `key:"error-status" own:"true" risk:"low" doc:"Statuses of nginx itself that it gives as another status, in lines such as \"495 496 = 401\". Only errors can be given, so that no denial becomes a success. 495 and 496, for refused client certificates, hold for the whole host: the Ingress that decides on the certificates gives them."`
	// Codes are empty for those of the settings.
	Codes []string `key:"custom-http-errors" risk:"low" validate:"max=60,dive,error_status" instead:"errors are answered as without it" doc:"Statuses in place of which another Service answers: that of default-backend, or else the default backend of the controller. They replace those of the setting custom-http-errors. At most 60."`
	// Backend is the Service, in the namespace of the Ingress; empty for none.
	Backend string `key:"default-backend" risk:"low" validate:"service_name" instead:"errors are answered as without it" costs:"all" doc:"Service of the namespace of the Ingress, by its first port. It answers in place of the statuses of custom-http-errors, and instead of a Service without endpoints."`
	// OnlyOwn is set if answers of backends stay.
	OnlyOwn bool `key:"disable-proxy-intercept-errors" default:"false" risk:"low" needs:"custom-http-errors" doc:"Whether answers of the backends stay, so that custom-http-errors replaces only errors of nginx itself. A list in the setting custom-http-errors has nginx replace them nonetheless, unless the setting disable-proxy-intercept-errors is true too."`
}

// mend reports a fallback that would replace answers which have to stay.
func (c *CustomErrors) mend(func(key string) bool) []keys.Fault {
	if c.Fallback != "" && c.OnlyOwn {
		return []keys.Fault{{Key: "fallback-path", Value: c.Fallback, Want: "no disable-proxy-intercept-errors beside it, as it replaces answers of the backend"}}
	}
	return nil
}
