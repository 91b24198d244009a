package annotations

// Mirror sends copies of requests to another target, and ignores its answers.
type Mirror struct {
	Target string `key:"mirror-target" risk:"high" validate:"mirror_target" instead:"nothing is mirrored" costs:"all" doc:"URL that gets a copy of each request. The controller resolves its host. Without a path, the copy has the URI of the request."`
	Body   string `key:"mirror-request-body" default:"on" risk:"low" validate:"oneof=on off" needs:"mirror-target" costs:"all" instead:"nothing is mirrored" doc:"Whether the copies contain the body of the request. nginx then reads the whole body before it passes the request on."`
	Host   string `key:"mirror-host" risk:"high" validate:"host_and_variables" needs:"mirror-target" doc:"Header Host of the copies. Default: the host of the target."`
}
