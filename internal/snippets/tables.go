package snippets

// usual are directives that say what Sluice does anyway.
var usual = map[string]string{
	"server_tokens":              "off",
	"proxy_pass_request_headers": "on",
	"proxy_pass_request_body":    "on",
	"chunked_transfer_encoding":  "on",
	"tcp_nodelay":                "on",
	"tcp_nopush":                 "on",
	"sendfile":                   "on",
	"ssi":                        "off",
	"ignore_invalid_headers":     "on",
	"recursive_error_pages":      "on",
	"keepalive_disable":          "none",
}

// ofFiles are directives about files.
var ofFiles = map[string]bool{"autoindex": true, "index": true, "log_not_found": true, "open_file_cache": true, "open_file_cache_valid": true, "open_file_cache_min_uses": true, "open_file_cache_errors": true, "directio": true}

// settings are directives that a setting of the controller replaces.
var settings = map[string]string{
	"client_body_timeout":          "client-body-timeout",
	"client_header_buffer_size":    "client-header-buffer-size",
	"client_header_timeout":        "client-header-timeout",
	"default_type":                 "default-type",
	"gzip":                         "use-gzip",
	"gzip_comp_level":              "gzip-level",
	"gzip_disable":                 "gzip-disable",
	"gzip_min_length":              "gzip-min-length",
	"gzip_types":                   "gzip-types",
	"http2_max_concurrent_streams": "http2-max-concurrent-streams",
	"ignore_invalid_headers":       "ignore-invalid-headers",
	"keepalive_requests":           "keep-alive-requests",
	"keepalive_timeout":            "keep-alive",
	"large_client_header_buffers":  "large-client-header-buffers",
	"limit_conn_status":            "limit-conn-status-code",
	"limit_req_status":             "limit-req-status-code",
	"real_ip_header":               "use-forwarded-headers or use-proxy-protocol",
	"real_ip_recursive":            "compute-full-forwarded-for",
	"server_tokens":                "server-tokens",
	"set_real_ip_from":             "proxy-real-ip-cidr",
	"ssl_buffer_size":              "ssl-buffer-size",
	"ssl_ecdh_curve":               "ssl-ecdh-curve",
	"ssl_protocols":                "ssl-protocols",
	"ssl_session_cache":            "ssl-session-cache and ssl-session-cache-size",
	"ssl_session_tickets":          "ssl-session-tickets",
	"ssl_session_timeout":          "ssl-session-timeout",
	"underscores_in_headers":       "enable-underscores-in-headers",
}

// instead are directives that need something that a text to paste cannot have.
var instead = map[string]string{
	"alias":                         "nginx of Sluice has no files to serve: want a Service for this path",
	"root":                          "nginx of Sluice has no files to serve: want a Service for this path",
	"try_files":                     "nginx of Sluice has no files to serve: for a single-page application want sluice.io/fallback-path",
	"auth_basic_user_file":          "want auth-type: \"basic\" with the users in a Secret (auth-secret)",
	"fastcgi_param":                 "want fastcgi-params-configmap, a ConfigMap with the parameters",
	"fastcgi_pass":                  "want a path of the Ingress with this Service and backend-protocol: \"FCGI\"",
	"grpc_pass":                     "want a path of the Ingress with this Service and backend-protocol: \"GRPC\"",
	"limit_conn":                    "want limit-connections, a number for each client",
	"limit_req":                     "want limit-rps or limit-rpm with limit-burst-multiplier, numbers for each client",
	"mirror":                        "want mirror-target, the URL that gets copies",
	"mirror_request_body":           "want mirror-request-body beside mirror-target",
	"proxy_pass":                    "want a path of the Ingress with this Service as its backend",
	"proxy_ssl_certificate":         "want proxy-ssl-secret, a Secret with the certificate",
	"proxy_ssl_certificate_key":     "want proxy-ssl-secret, a Secret with the certificate",
	"proxy_ssl_trusted_certificate": "want proxy-ssl-secret, a Secret with the authorities in ca.crt",
	"ssl_certificate":               "want the Secret of the certificate in spec.tls",
	"ssl_certificate_key":           "want the Secret of the certificate in spec.tls",
	"ssl_client_certificate":        "want auth-tls-secret, a Secret with the authorities in ca.crt",
	"ssl_verify_client":             "want auth-tls-verify-client beside auth-tls-secret",
	"ssl_crl":                       "want the key ca.crl in the Secret of auth-tls-secret",
	"limit_except":                  "no annotation refuses methods",
	"include":                       "its text is not here",
	"server_name":                   "want server-alias, or the host in a rule",
	"listen":                        "Sluice chooses the ports",
}
