package annotations

// BasicAuth asks clients for a user and a password (RFC 7617).
type BasicAuth struct {
	Type       string `key:"auth-type" risk:"low" validate:"oneof=basic" gone:"digest" protects:"true" doc:"Method of authentication. Sluice does not support digest."`
	Secret     string `key:"auth-secret" risk:"medium" validate:"secret_name" needs:"auth-type" protects:"true" doc:"Secret with the users and the hashes of their passwords. A Secret of another namespace must delegate itself with its annotation sluice.io/tls-delegation."`
	SecretType string `key:"auth-secret-type" default:"auth-file" risk:"low" validate:"oneof=auth-file auth-map" needs:"auth-type" doc:"Form of the Secret. With auth-file, its key auth is an htpasswd file. With auth-map, each key is a user and its value the hash of the password."`
	Realm      string `key:"auth-realm" risk:"medium" validate:"realm" needs:"auth-type" doc:"Text that browsers show when they ask for a password."`
}

// On reports whether it is turned on.
func (b BasicAuth) On() bool { return b.Type != "" }
