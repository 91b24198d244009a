package annotations

// Mirror sends copies of requests to another target, whose answers are thrown away.
type Mirror struct {
	Target string `key:"mirror-target" risk:"high" validate:"mirror_target" instead:"nothing is mirrored" doc:"URL that gets a copy of each request. The controller resolves its host; without a path, the copy asks for what the client asked for."`
	Body   string `key:"mirror-request-body" default:"on" risk:"low" validate:"oneof=on off" needs:"mirror-target" instead:"nothing is mirrored" doc:"Whether the copies have the body of the request, which nginx then reads whole before it passes the request on."`
	Host   string `key:"mirror-host" risk:"high" validate:"host_and_variables" needs:"mirror-target" instead:"nothing is mirrored" doc:"Header Host of the copies, instead of the host of the target."`
}
