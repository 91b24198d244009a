package annotations

import (
	"sluice/internal/keys"
	"sluice/internal/model"
)

// HealthCheck leaves out endpoints that do not answer the requests of the controller.
type HealthCheck struct {
	Path      string           `key:"health-check-path" own:"true" risk:"medium" validate:"check_path" costs:"all" doc:"Path, with its arguments, that the controller requests from each endpoint. An endpoint without the right answer gets no requests. Each replica of Sluice checks for itself."`
	Host      string           `key:"health-check-host" own:"true" risk:"medium" validate:"server_name" needs:"health-check-path" costs:"all" doc:"Header Host of these requests. By default it is the address of the endpoint."`
	Port      int              `key:"health-check-port" own:"true" default:"0" off:"0" risk:"medium" validate:"min=0,max=65535" needs:"health-check-path" costs:"all" doc:"Port of these requests, which are plain HTTP there. 0 means the port of the endpoint, with TLS if backend-protocol has it."`
	Status    keys.StatusRange `key:"health-check-status" own:"true" default:"200-399" risk:"low" needs:"health-check-path" costs:"all" doc:"Statuses of a healthy endpoint. The controller does not follow redirects."`
	Interval  int              `key:"health-check-interval" own:"true" default:"10" risk:"low" validate:"min=1,max=3600" needs:"health-check-path" unit:"seconds" doc:"Seconds between two checks of an endpoint."`
	Timeout   int              `key:"health-check-timeout" own:"true" default:"2" risk:"low" validate:"min=1,max=10" needs:"health-check-path" unit:"seconds" doc:"Seconds in which an endpoint has to answer."`
	Healthy   int              `key:"health-check-healthy-threshold" own:"true" default:"2" risk:"low" validate:"min=1,max=100" needs:"health-check-path" doc:"Number of right answers in a row after which an endpoint gets requests again. If it fails again within 10 minutes, it needs more."`
	Unhealthy int              `key:"health-check-unhealthy-threshold" own:"true" default:"3" risk:"low" validate:"min=1,max=100" needs:"health-check-path" doc:"Number of failed checks in a row after which an endpoint gets no requests."`
}

// Checkable reports whether the controller can check endpoints on the port of their
// requests.
func Checkable(p model.BackendProtocol) bool { return p == "" || p == model.AutoHTTP }
