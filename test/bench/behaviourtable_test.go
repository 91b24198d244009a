package bench

import (
	"encoding/base64"
	"fmt"
)

// plainBehaviour is what all others are compared with.
var plainBehaviour = behaviour{name: "none"}

// hsts repeats by hand what a location with a header of its own does not inherit.
const hsts = "add_header Strict-Transport-Security $hsts always; "

var authorization = "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("ann:secret"))

// canaryOf is a canary of a behaviour's host.
func canaryOf(name, annotation string) string {
	main := behaviour{name: name}
	return ingressText(behaviour{name: name + " canary", of: main.object(), annotations: []string{"canary: true", annotation}}, "web")
}

// behaviours are all, in the order of the table.
func (p *behaviourPorts) behaviours() []behaviour {
	return append(append([]behaviour{plainBehaviour}, p.access()...), append(p.choices(), p.answers()...)...)
}

// access are behaviours that let requests pass or not.
func (p *behaviourPorts) access() []behaviour {
	question := fmt.Sprintf("location = /.auth { internal; proxy_pass http://auth/check; proxy_pass_request_body off; proxy_set_header Content-Length \"\"; proxy_set_header Connection \"\"; proxy_set_header X-Original-URI $request_uri; %%s}\n")
	authURL, keep := fmt.Sprintf("auth-url: http://%s:%d/check", p.own, p.auth), "auth-keepalive: 32"
	basic := fmt.Sprintf("auth_basic users; auth_basic_user_file %s/users;", p.dir)
	return []behaviour{
		{name: "basic auth", annotations: []string{"auth-type: basic", "auth-secret: users"}, headers: []string{authorization}, location: basic},
		{name: "external auth", lua: true, annotations: []string{authURL, keep}, server: fmt.Sprintf(question, ""), location: "auth_request /.auth;"},
		{
			name: "external auth kept", lua: true, annotations: []string{authURL, keep, "auth-cache-key: $http_authorization"}, headers: []string{authorization},
			http:     fmt.Sprintf("proxy_cache_path %s/cache keys_zone=answers:1m;\n", p.dir),
			server:   fmt.Sprintf(question, "proxy_cache answers; proxy_cache_key $host$http_authorization; proxy_cache_valid 200 5m; "),
			location: "auth_request /.auth;",
		},
		{name: "limit rps", annotations: []string{"limit-rps: 1000000"}, http: "limit_req_zone $binary_remote_addr zone=rate:5m rate=1000000r/s;\n", location: "limit_req zone=rate burst=5000000 nodelay;"},
		{name: "limit connections", annotations: []string{"limit-connections: 1000"}, http: "limit_conn_zone $binary_remote_addr zone=open:5m;\n", location: "limit_conn open 1000;"},
		{name: "allow list", annotations: []string{"allowlist-source-range: 192.0.2.0/24,127.0.0.0/8"}, location: "allow 192.0.2.0/24; allow 127.0.0.0/8; deny all;"},
		{
			name: "satisfy any", annotations: []string{"satisfy: any", "allowlist-source-range: 127.0.0.0/8", "auth-type: basic", "auth-secret: users"},
			location: "satisfy any; allow 127.0.0.0/8; deny all; " + basic,
		},
		{
			name: "client certificate", certificate: true, annotations: []string{"auth-tls-secret: bench/authority", "auth-tls-verify-client: on"},
			server: fmt.Sprintf("ssl_client_certificate %s/tls.crt; ssl_verify_client on;\n", p.dir), location: "proxy_set_header ssl-client-verify $ssl_client_verify; proxy_set_header ssl-client-subject-dn $ssl_client_s_dn; proxy_set_header ssl-client-issuer-dn $ssl_client_i_dn; " + handHeaders,
		},
	}
}

// choices are behaviours that choose an endpoint.
func (p *behaviourPorts) choices() []behaviour {
	upstream := func(name, method string) string {
		return fmt.Sprintf("upstream %s { %s server 127.0.0.1:%d; server 127.0.0.1:%d; keepalive 320; keepalive_requests 10000; }\n", name, method, p.web[0], p.web[1])
	}
	to := func(name string) string { return "proxy_pass http://" + name + ";" }
	return []behaviour{
		{name: "canary weight", lua: true, more: canaryOf("canary weight", "canary-weight: 10"), http: upstream("weighed", "") + "split_clients $request_id $by_weight { 10% weighed; * backends; }\n", location: to("$by_weight")},
		{name: "canary header", lua: true, more: canaryOf("canary header", "canary-by-header: X-Canary"), headers: []string{"X-Canary: always"}, http: upstream("named", "") + "map $http_x_canary $by_header { always named; default backends; }\n", location: to("$by_header")},
		{name: "canary cookie", lua: true, more: canaryOf("canary cookie", "canary-by-cookie: canary"), headers: []string{"Cookie: canary=always"}, http: upstream("sweet", "") + "map $cookie_canary $by_cookie { always sweet; default backends; }\n", location: to("$by_cookie")},
		{name: "affinity cookie", lua: true, annotations: []string{"affinity: cookie", "session-cookie-name: stay"}, cookie: true, http: upstream("sticky", "hash $cookie_stay consistent;"), location: to("sticky")},
		{name: "upstream-hash-by", lua: true, annotations: []string{"upstream-hash-by: $request_uri"}, http: upstream("hashed", "hash $request_uri consistent;"), location: to("hashed")},
		{name: "subset", lua: true, annotations: []string{"upstream-hash-by: $request_uri", "upstream-hash-by-subset: true", "upstream-hash-by-subset-size: 1"}, http: upstream("part", "hash $request_uri consistent;"), location: to("part")},
		{name: "ewma", lua: true, annotations: []string{"load-balance: ewma"}, http: upstream("drawn", "random two least_conn;"), location: to("drawn")},
		{name: "least_conn", lua: true, annotations: []string{"load-balance: least_conn"}, http: upstream("idle", "least_conn;"), location: to("idle")},
	}
}

// answers are behaviours that change requests or answers, or how both are passed on.
func (p *behaviourPorts) answers() []behaviour {
	return []behaviour{
		{
			name: "CORS", annotations: []string{"enable-cors: true"}, headers: []string{"Origin: https://other.example"},
			location: "if ($request_method = OPTIONS) { return 204; } " + hsts + `add_header Access-Control-Allow-Origin * always; add_header Access-Control-Allow-Credentials true always; ` +
				`add_header Access-Control-Allow-Methods "GET, PUT, POST, DELETE, PATCH, OPTIONS" always; add_header Access-Control-Allow-Headers "DNT,Keep-Alive,User-Agent,X-Requested-With,If-Modified-Since,Cache-Control,Content-Type,Range,Authorization" always; add_header Access-Control-Max-Age 1728000 always;`,
		},
		{name: "custom headers", annotations: []string{"custom-headers: bench/headers"}, location: hsts + "add_header X-Team bench always;"},
		{name: "rewrite", path: "/api/(.*)", annotations: []string{"use-regex: true", "rewrite-target: /$1"}, location: `rewrite "(?i)^/api/(.*)" /$1 break;`},
		{name: "custom errors", annotations: []string{`custom-http-errors: "404,503"`, "default-backend: web"}, server: "location @error { proxy_pass http://backends; }\n", location: "proxy_intercept_errors on; error_page 404 503 = @error;"},
		{
			name: "mirror", lua: true, annotations: []string{fmt.Sprintf("mirror-target: http://%s:%d$request_uri", p.own, p.auth)},
			server: "location = /.copy { internal; proxy_pass http://auth$request_uri; }\n", location: "mirror /.copy;",
		},
		{name: "buffers", annotations: []string{"proxy-buffering: on", "proxy-buffers-number: 8", "proxy-buffer-size: 8k"}, location: "proxy_buffering on; proxy_buffer_size 8k; proxy_buffers 8 8k;"},
		{name: "timeout of one path", annotations: []string{"sluice.io/paths.proxy-read-timeout: \"/: 30\""}, location: "proxy_read_timeout 30s;"},
		{
			name: "gRPC", lua: true, annotations: []string{"backend-protocol: GRPC"}, service: "calls", headers: []string{"Content-Type: application/grpc"},
			http: fmt.Sprintf("upstream calls { server 127.0.0.1:%d; server 127.0.0.1:%[1]d; keepalive 320; }\n", p.h2c), location: "grpc_set_header Host $http_host; grpc_set_header X-Request-ID $req_id; grpc_set_header X-Real-IP $remote_addr; grpc_set_header X-Forwarded-For $remote_addr; grpc_set_header X-Forwarded-Proto $scheme; grpc_pass grpc://calls;",
		},
		{
			name: "proxy-ssl", annotations: []string{"backend-protocol: HTTPS", "proxy-ssl-secret: bench/authority", "proxy-ssl-verify: on", "proxy-ssl-name: backend.internal", "proxy-ssl-server-name: on"}, service: "secure",
			http:     fmt.Sprintf("upstream secure { server 127.0.0.1:%d; keepalive 320; keepalive_requests 10000; }\n", p.https),
			location: fmt.Sprintf("proxy_ssl_trusted_certificate %s/tls.crt; proxy_ssl_verify on; proxy_ssl_name backend.internal; proxy_ssl_server_name on; proxy_pass https://secure;", p.dir),
		},
	}
}
