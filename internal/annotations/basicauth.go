package annotations

// BasicAuth asks clients for a user and a password (RFC 7617).
type BasicAuth struct {
	Type       string `key:"auth-type" risk:"low" validate:"oneof=basic" gone:"digest" protects:"true" doc:"How clients prove who they are; digest of ingress-nginx is gone, as browsers and nginx have given it up."`
	Secret     string `key:"auth-secret" risk:"medium" validate:"secret_name" needs:"auth-type" protects:"true" doc:"Secret with the users and the hashes of their passwords; one of another namespace has to delegate itself, by its annotation sluice.io/tls-delegation."`
	SecretType string `key:"auth-secret-type" default:"auth-file" risk:"low" validate:"oneof=auth-file auth-map" needs:"auth-type" doc:"What the Secret is like: auth-file has a file of htpasswd in its key auth, auth-map a user in each key, with the hash as the value."`
	Realm      string `key:"auth-realm" alone:"true" risk:"medium" validate:"realm" needs:"auth-type" doc:"What browsers show beside the question for a password."`
}

// On reports whether it is asked for.
func (b BasicAuth) On() bool { return b.Type != "" }
