package annotations

// HandOver lets another Ingress have the paths of this one. Only the webhook that judges Ingresses
// reads it: which of the two is served does not depend on it.
type HandOver struct {
	To string `key:"hand-over" own:"true" risk:"low" validate:"ingress_ref" costs:"all" doc:"Ingress that may have paths which this one has already. The admission webhook then lets it be stored; the older of the two is served until it goes."`
}
