package requests

import "sluice/test/effects"

// name is that of an effect, "" for none.
func name(e *effects.Effect) string {
	if e == nil {
		return ""
	}
	return e.Name
}

// question is the location of a question to the server that decides.
const question = `
  location = /question {
    internal;
    client_max_body_size 0;
    proxy_pass_request_body off;
    proxy_set_header Content-Length "";
    proxy_set_header Host auth.test;
    proxy_pass http://DECIDES/check;
  }
`

// byHand has the effects that plain directives of nginx have too, and "" for a path without any.
var byHand = map[string]hand{
	"":              {},
	"deny-list":     {location: "deny 127.0.0.9;"},
	"allow-list":    {location: "allow 127.0.0.0/29; deny all;"},
	"deny-paths":    {server: "  location /a/private/ { deny all; }"},
	"basic-auth":    {location: `auth_basic ours; auth_basic_user_file DIR/users; @HEADERS proxy_set_header Authorization "";`},
	"external-auth": {location: `auth_request /question; auth_request_set $user $upstream_http_x_user; @HEADERS proxy_set_header X-User $user; auth_request_set $cookie_asked $upstream_http_set_cookie; HSTS add_header Set-Cookie $cookie_asked;`, server: question},
	"sign-in":       {location: `auth_request /question; auth_request_set $cookie_asked $upstream_http_set_cookie; HSTS add_header Set-Cookie $cookie_asked always;`, server: question},
	"satisfy":       {location: `satisfy any; allow 127.0.0.0/29; deny all; auth_basic ours; auth_basic_user_file DIR/users;`},
	"body-size":     {location: "client_max_body_size 1k;"},
	"error-status":  {location: "client_max_body_size 1k; error_page 413 =422 /of/422;", server: "  location = /of/422 { internal; return 422; }"},
	"limits":        {http: "limit_conn_zone $binary_remote_addr zone=c:1m; limit_req_zone $binary_remote_addr zone=r:1m rate=1000r/s;\n", location: "limit_conn c 100; limit_req zone=r burst=9000 nodelay;"},
	"rate":          {location: "limit_rate 10000k; limit_rate_after 100k;"},
	"limits-dry":    {http: "limit_req_zone $binary_remote_addr zone=d:1m rate=1r/m;\n", location: "limit_req zone=d burst=1 nodelay; limit_req_dry_run on;"},
	"client-certificates": {location: `@HEADERS
    proxy_set_header ssl-client-verify $ssl_client_verify; proxy_set_header ssl-client-subject-dn $ssl_client_s_dn;
    proxy_set_header ssl-client-issuer-dn $ssl_client_i_dn; proxy_set_header ssl-client-cert $ssl_client_escaped_cert;`,
		server: "  ssl_client_certificate DIR/crt; ssl_verify_client on; ssl_verify_depth 2;"},
	"modsecurity": {location: `modsecurity on; modsecurity_rules 'SecRuleEngine On
SecRequestBodyAccess On
SecRequestBodyLimit 13107200
SecRequestBodyLimitAction Reject
SecRule REQUEST_HEADERS:X-Bad "@streq yes" "id:1000,phase:1,deny,status:403"';`},

	"cors": {location: `HSTS
    add_header Access-Control-Allow-Origin $granted always; add_header Access-Control-Allow-Methods $granted_methods always;
    if ($preflight) { return 204; } proxy_pass http://web;`,
		http: `map $http_origin $granted { default ""; https://app.example https://app.example; }
map $granted $granted_methods { default "GET, PUT"; "" ""; }
map "$request_method $granted" $preflight { default ""; "OPTIONS https://app.example" 1; }
`},
	"permanent-redirect": {location: "return 308 https://new.example/x;"},
	"temporal-redirect":  {location: "return 307 https://soon.example/x;"},
	"answer-rewrites":    {location: "proxy_redirect http://old.example/ http://moved.example/; proxy_cookie_path /one /two; proxy_cookie_domain old.example new.example;"},
	"sub-filter":         {location: `sub_filter "http://old.example" "https://changed.example"; sub_filter_once off; @HEADERS proxy_set_header Accept-Encoding "";`},
	"cookie-flags":       {location: "proxy_cookie_flags session secure httponly;"},
	"caching": {http: "map $status $kept { default $upstream_http_cache_control; \"~^(20[0146]|30[123478])\" \"public, max-age=77\"; }\n",
		location: "proxy_hide_header Cache-Control; HSTS add_header Cache-Control $kept always;"},
	"expires":               {location: "expires 1h;"},
	"response-headers":      {location: "HSTS add_header X-Own mine always;"},
	"named-snippets":        {location: "HSTS add_header X-Team tea always;"},
	"configuration-snippet": {location: "HSTS add_header X-Of-Snippet $request_method always;"},
	"custom-headers":        {location: "HSTS add_header X-Answered yes always;"},
	"custom-errors":         {location: "proxy_intercept_errors on; error_page 418 = @errors;", server: errors},
	"own-errors":            {location: "error_page 418 = @errors;", server: errors},
	"fallback-path":         {location: "proxy_intercept_errors on; error_page 404 /a/index.html;", server: "  location = /a/index.html { proxy_pass http://web; }"},

	"rewrite":           {location: "rewrite ^ /rewritten break;"},
	"forwarded-prefix":  {location: "rewrite ^ /re break; @HEADERS proxy_set_header X-Forwarded-Prefix /prefix;"},
	"request-headers":   {location: "@HEADERS proxy_set_header X-Added $request_method;"},
	"upstream-host":     {location: "@HEADERS proxy_set_header Host inner.example;"},
	"connection-header": {location: "@HEADERS proxy_set_header Connection keep-alive;"},
	"https":             {location: `proxy_ssl_trusted_certificate DIR/authority; proxy_ssl_verify on; proxy_ssl_name example.com; proxy_ssl_server_name on; proxy_pass https://plain;`},
	"grpc":              {location: "GRPC grpc_pass grpc://plain;"},
	"fastcgi":           {location: "fastcgi_pass plain; FASTCGI"},
	"http-version":      {location: "proxy_http_version 1.0;"},
	"mirror":            {location: "mirror /copy; mirror_request_body off;", server: "  location = /copy { internal; proxy_pass_request_body off; proxy_set_header Content-Length \"\"; proxy_pass http://DECIDES; }"},
	"buffers":           {location: "proxy_buffer_size 16k; proxy_buffering on; proxy_request_buffering off; proxy_buffers 8 16k; proxy_busy_buffers_size 32k; proxy_max_temp_file_size 8m;"},
	"body-buffer":       {location: "client_body_buffer_size 64k;"},
	"timeouts":          {location: "proxy_connect_timeout 7s; proxy_read_timeout 77s; proxy_send_timeout 78s;"},
	"next-upstream":     {location: "proxy_next_upstream error http_503; proxy_next_upstream_tries 2; proxy_next_upstream_timeout 9;"},
}

// errors is the Service of the pages for errors.
const errors = `
  location @errors {
    rewrite ^ / break;
    @HEADERS
    proxy_set_header X-Code 418;
    proxy_set_header X-Format $http_accept;
    proxy_set_header X-Original-URI $request_uri;
    proxy_set_header X-Namespace default;
    proxy_set_header X-Ingress-Name with-custom-errors;
    proxy_set_header X-Service-Name web;
    proxy_set_header X-Service-Port 80;
    proxy_pass http://web;
  }
`
