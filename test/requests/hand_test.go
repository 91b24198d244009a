package requests

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sluice/internal/model"
	"sluice/test/effects"
	"sluice/test/kit"
)

// hand is a server of an nginx.conf that somebody writes by hand, with plain directives of nginx, to do
// what an effect does.
type hand struct {
	// location is in the location of the path; without a pass it goes to the Service by HTTP.
	location string
	// server is beside the location, http outside of the server.
	server, http string
}

// sentHeaders are those of all requests to Services, as ingress-nginx documents them.
const sentHeaders = `
    proxy_set_header Host $http_host;
    proxy_set_header X-Request-ID $request_id;
    proxy_set_header X-Real-IP $remote_addr;
    proxy_set_header X-Forwarded-For $remote_addr;
    proxy_set_header X-Forwarded-Host $http_host;
    proxy_set_header X-Forwarded-Port $forwarded_port;
    proxy_set_header X-Forwarded-Proto $scheme;
    proxy_set_header X-Forwarded-Scheme $scheme;
    proxy_set_header X-Scheme $scheme;
    proxy_set_header Upgrade $http_upgrade;
    proxy_set_header Connection $connection_upgrade;
`

// frame is the file around the servers, with the defaults of ingress-nginx.
const frame = `
%s
user root;
worker_processes 1;
pid DIR/pid;
error_log DIR/log warn;
events { worker_connections 1024; }
http {
  access_log off;
  client_body_temp_path DIR/body; proxy_temp_path DIR/proxy; fastcgi_temp_path DIR/fastcgi; uwsgi_temp_path DIR/uwsgi; scgi_temp_path DIR/scgi;
  server_tokens off;
  default_type text/html;
  large_client_header_buffers 4 8k;
  client_max_body_size 64m;
  proxy_http_version 1.1;
  proxy_redirect off;
  proxy_buffering off;
  proxy_buffer_size 32k; proxy_buffers 4 32k; proxy_busy_buffers_size 64k;
  grpc_buffer_size 32k;
  fastcgi_buffering off; fastcgi_buffer_size 32k; fastcgi_buffers 4 32k; fastcgi_busy_buffers_size 64k; fastcgi_keep_conn on;
  ssl_certificate DIR/crt; ssl_certificate_key DIR/key;
  map $http_upgrade $connection_upgrade { default upgrade; "" ""; }
  map $https $forwarded_port { default 443; "" HTTPPORT; }
  map $https $hsts { default "max-age=31536000; includeSubDomains"; "" ""; }
  add_header Strict-Transport-Security $hsts always;
  upstream web { server WEB; keepalive 32; }
  upstream plain { server WEB; }
`

// parameters are those of FastCGI in the packages of nginx, the headers of other Services and one more.
const parameters = `
    fastcgi_param REQUEST_METHOD $request_method; fastcgi_param REQUEST_URI $request_uri; fastcgi_param DOCUMENT_URI $document_uri;
    fastcgi_param SCRIPT_NAME $fastcgi_script_name; fastcgi_param QUERY_STRING $query_string; fastcgi_param SERVER_PROTOCOL $server_protocol;
    fastcgi_param CONTENT_TYPE $content_type; fastcgi_param CONTENT_LENGTH $content_length; fastcgi_param SERVER_NAME $host;
    fastcgi_param GATEWAY_INTERFACE CGI/1.1; fastcgi_param REMOTE_ADDR $remote_addr; fastcgi_param HTTPS $https if_not_empty;
    fastcgi_param HTTP_HOST $http_host; fastcgi_param HTTP_X_REQUEST_ID $request_id; fastcgi_param HTTP_X_REAL_IP $remote_addr;
    fastcgi_param HTTP_X_FORWARDED_FOR $remote_addr; fastcgi_param HTTP_X_FORWARDED_HOST $http_host; fastcgi_param HTTP_X_FORWARDED_PORT $forwarded_port;
    fastcgi_param HTTP_X_FORWARDED_PROTO $scheme; fastcgi_param HTTP_X_FORWARDED_SCHEME $scheme; fastcgi_param HTTP_X_SCHEME $scheme;
    fastcgi_param HTTP_X_PARAMETER yes;
`

const serverByHand = `
server {
  listen 127.0.0.1:PORT; listen 127.0.0.1:SECURE ssl http2;
  server_name %s;
%s
  location /a {
%s
  }
}
`

// write returns the nginx.conf with the server of each effect.
func write(installed kit.Nginx, all []*effects.Effect, values ...string) string {
	var module string
	var http, servers strings.Builder
	for _, e := range append(all, nil) {
		h, known := byHand[name(e)]
		if !known {
			continue
		}
		if e != nil && e.Needs == effects.ModSecurity {
			module = "load_module " + installed.Capabilities.ModSecurity + ";"
		}
		http.WriteString(h.http)
		location := h.location
		if !strings.Contains(location, "_pass ") && !strings.Contains(location, "return ") {
			location += "proxy_pass http://web;"
		}
		fmt.Fprintf(&servers, serverByHand, host(e), withHeaders(h.server), withHeaders(location))
	}
	text := fmt.Sprintf(frame, module) + sentHeaders + http.String() + servers.String() + "}\n"
	return strings.NewReplacer(append(values, "FASTCGI", parameters, "GRPC", grpcHeaders, "HSTS", "add_header Strict-Transport-Security $hsts always;")...).Replace(text)
}

// grpcHeaders are sentHeaders for gRPC, which has no Upgrade.
var grpcHeaders = strings.NewReplacer("proxy_set_header Upgrade $http_upgrade;", `grpc_set_header Upgrade "";`, "proxy_set_header Connection $connection_upgrade;", "", "proxy_", "grpc_").Replace(sentHeaders)

// withHeaders has the headers of all requests in place of @HEADERS, but for those that a text sets itself.
func withHeaders(text string) string {
	var list strings.Builder
	for line := range strings.Lines(sentHeaders) {
		if words := strings.Fields(line); len(words) > 0 && !strings.Contains(text, words[0]+" "+words[1]+" ") {
			list.WriteString(line)
		}
	}
	return strings.ReplaceAll(text, "@HEADERS", list.String())
}

// startByHand runs an nginx by hand beside that of Sluice.
func startByHand(t *testing.T, installed kit.Nginx, all []*effects.Effect, ours *kit.Served, web, decides []model.Endpoint) *world {
	t.Helper()
	dir := kit.StateDir(t)
	w := &world{port: kit.Port(t), securePort: kit.Port(t)}
	address := func(list []model.Endpoint) string { return fmt.Sprintf("%s:%d", list[0].Address, list[0].Port) }
	conf := write(installed, all, "DIR", dir, "WEB", address(web), "DECIDES", address(decides), "HTTPPORT", fmt.Sprint(ours.Environment.HTTPPort),
		"PORT", fmt.Sprint(w.port), "SECURE", fmt.Sprint(w.securePort))
	for file, text := range map[string]string{
		"conf": conf, "crt": effects.Ann().PEM, "key": effects.Ann().Key, "authority": kit.Authority(), "users": "ann:{PLAIN}secret\n", "log": "",
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	log := kit.Log(filepath.Join(dir, "log"))
	process := kit.Start(t, installed.Call("-p", dir, "-c", filepath.Join(dir, "conf"), "-g", "daemon off;"), log)
	t.Cleanup(func() { process.Stop(syscall.SIGTERM, kit.Patience) })
	kit.Await(t, "the nginx by hand", func() bool {
		if process.Ended() {
			t.Fatalf("the nginx by hand ended: %s", kit.Tail(log.Lines(t, "[emerg]"), 3))
		}
		connection, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", w.securePort))
		if err == nil {
			connection.Close()
		}
		return err == nil
	})
	return w
}
