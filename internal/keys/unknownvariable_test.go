package keys

import (
	"strings"
	"testing"
)

// A Problem names the variable that a value may not have, and those that it may.
func TestVariablesThatAreNotAllowedAreNamed(t *testing.T) {
	t.Parallel()
	type values struct {
		URL    string   `key:"url" validate:"auth_url" doc:"A URL."`
		SignIn string   `key:"signin" validate:"signin_url" doc:"A URL."`
		To     string   `key:"to" validate:"redirect_url" doc:"A URL."`
		Hosts  []string `key:"hosts" validate:"dive,host_and_variables" doc:"Hosts."`
	}
	const ofAuth = "$best_http_host, $escaped_request_uri, $host, $ingress_name, $namespace, $pass_access_scheme, $remote_addr, $request_id, $request_method, $request_uri, $req_id, $scheme, $server_name, $server_port, $service_name, $service_port, $cookie_NAME and $http_NAME"
	for _, test := range []struct{ key, value, want string }{
		{"url", "http://a.example/?x=$arg_x&y=$uri", `(got "http://a.example/?x=$arg_x&y=$uri"): the variable $arg_x is none of these: ` + ofAuth},
		{"url", "http://a.example/${arg_x}", ": the variable $arg_x is none of these: "},
		{"signin", "/in?rd=$escaped_request_uri&x=$hostname", ": the variable $hostname is none of these: " + ofAuth},
		{"to", "/x$arg_x", ": the variable $arg_x is none of these"},
		{"hosts", "a.example, $uri", ": the variable $uri is none of these: $args, "},
		{"url", "http://a.example/<$host>", ""},
		{"url", "http://$/", ""},
	} {
		var v values
		faults := Decode(&v, func(key string) (string, bool) { return test.value, key == test.key }, nil)
		if len(faults) != 1 || !strings.Contains(faults[0].Text(), test.want) || (faults[0].Because != "") != (test.want != "") {
			t.Errorf("%s: %+v", test.value, faults)
		}
	}
}
