package settings

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// long is a path below /var/log of so many bytes.
func long(bytes int) string {
	const front = "/var/log/"
	return front + strings.Repeat("a", bytes-len(front))
}

func TestWhatIsValidOfLogs(t *testing.T) {
	t.Parallel()
	for key, values := range map[string][]string{
		"access-log-path":      {"/dev/stdout", "/dev/null", "/var/log/a", "/var/log/nginx/access.log", "/var/log/a-1_2/b@c+d=e:f,g~.gz", long(255)},
		"error-log-path":       {"/dev/stderr", "/dev/stdout", "/dev/null", "/var/log/nginx/error.log", ""},
		"http-access-log-path": {"", "/var/log/http.log"},
		"access-log-params":    {"", "buffer=1", "buffer=9999999", "buffer=99999k flush=99999h", "buffer=99m gzip=9", "gzip", "gzip=1 flush=1ms"},
		"skip-access-log-urls": {"", "/", "/a?b=c&d", "/a, /b", "~x", "~*x", `~^/(?:a|b)$`, `~((x)|(?i)y)`, "~(?=a)(?>b)", "~^/a b$", "~(*UTF8)x", "/" + strings.Repeat("a", 1999)},
		"syslog-host":          {"", "192.0.2.1", "2001:db8::1", "::"},
		"syslog-port":          {"1", "65535"},
	} {
		for _, value := range values {
			if _, problems := read(map[string]string{key: value}); len(problems) > 0 {
				t.Errorf("%s=%q: %v", key, value, problems)
			}
		}
	}
}

func TestWhatIsNotValidOfLogs(t *testing.T) {
	t.Parallel()
	for key, values := range map[string][]string{
		"access-log-path": {
			"stderr", "off", "access.log", "/dev/stderr", "/dev/sda", "/dev/../etc/x", "/var/log", "/var/log/", "/var/logs/x", "/var/log//x", "/var/log/x/", "/var/log/../lib/x", "/var/log/./x", "/var/log/.x", "/var/log/-x",
			"/var/log/$host", "/var/log/a b", "/var/log/a;b", "/var/log/a\nb", "/var/log/ä", "/var/lib/sluice/nginx.conf", "/proc/self/mem", "syslog:server=192.0.2.1", "memory:1m", long(256), "x/var/log/a",
		},
		"error-log-path":    {"stderr", "/etc/passwd", "/var/log/../x", "/tmp/x", "/dev/stderr/x"},
		"access-log-params": {"buffer", "buffer=0", "buffer=10000000", "buffer=100000k", "buffer=100m", "buffer=1g", "flush=1m", "gzip=0", "gzip=10", "gzip flush=0", "gzip flush=100000", "if=$x", "gzip;"},
		"skip-access-log-urls": {
			"a", "default", "include /etc/passwd", "hostnames", "~", "~*", "/a b", "/a\x7f", "~(?<route>.*)", "~((?<route>.*))", "~(?P<route>.*)", "~(?'route'.*)", "~(?(?<route>.*)a)", "~(?|(?<route>.*))", "~a(", "/a,b", "/" + strings.Repeat("a", 2000),
		},
		"syslog-host": {"localhost", "192.0.2.1:514", "192.0.2", "[::1]", "fe80::1%eth0", "unix:/x", "1"},
		"syslog-port": {"0", "65536", "-1", "syslog"},
	} {
		for _, value := range values {
			if _, problems := read(map[string]string{key: value}); len(problems) != 1 || !strings.Contains(problems[0], "InvalidValue ConfigMap ingress/controller: "+key+": want ") {
				t.Errorf("%s=%q: %v", key, value, problems)
			}
		}
	}
}

func TestWhereLogsGo(t *testing.T) {
	t.Parallel()
	syslog := map[string]string{"enable-syslog": "true", "syslog-host": "192.0.2.1", "access-log-path": "/var/log/a", "access-log-params": "gzip", "error-log-path": "/var/log/e"}
	for name, test := range map[string]struct {
		data                  map[string]string
		access, params, error string
	}{
		"usual":      {nil, "/dev/stdout", "", ""},
		"off":        {map[string]string{"disable-access-log": "true", "access-log-path": "/var/log/a"}, "", "", ""},
		"off (HTTP)": {map[string]string{"disable-http-access-log": "true", "enable-syslog": "true", "syslog-host": "::1"}, "", "", "syslog:server=[::1]:514"},
		"for all":    {map[string]string{"access-log-path": "/var/log/a", "access-log-params": "gzip buffer=1k"}, "/var/log/a", "gzip buffer=1k", ""},
		"for HTTP":   {map[string]string{"access-log-path": "/var/log/a", "http-access-log-path": "/var/log/b", "error-log-path": "/var/log/e"}, "/var/log/b", "", "/var/log/e"},
		"syslog":     {syslog, "syslog:server=192.0.2.1:514", "", "syslog:server=192.0.2.1:514"},
	} {
		s, problems := read(test.data)
		got := []string{s.Log.AccessLog(), strings.Join(s.Log.Params(), " "), s.Log.ErrorLog()}
		if diff := cmp.Diff([]string{test.access, test.params, test.error}, got); diff != "" || len(problems) > 0 {
			t.Errorf("%s: %s%v", name, diff, problems)
		}
	}
}

// What two keys say together is one key's mistake, and that key keeps its
// default.
func TestLogKeysThatNeedOthers(t *testing.T) {
	t.Parallel()
	s, problems := read(map[string]string{"enable-syslog": "1", "syslog-host": "logs", "access-log-params": "flush=5s"})
	want := []string{
		`InvalidValue ConfigMap ingress/controller: access-log-params: want flush only beside buffer or gzip (got "flush=5s")`,
		`InvalidValue ConfigMap ingress/controller: enable-syslog: want "true" only beside syslog-host, the IP address of the server (got "true")`,
		`InvalidValue ConfigMap ingress/controller: syslog-host: want an IP address (got "logs")`,
	}
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Error(diff)
	}
	if text, _ := s.Value("enable-syslog"); s.Log.Syslog || text != "false" || len(s.Log.Params()) > 0 {
		t.Errorf("not the defaults: %+v, enable-syslog is %q", s.Log, text)
	}
}

func TestNamesOfLogFormat(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]bool{
		"$location_path": true, "a${location_path}b": true, "$status$location_path.": true, "$location_path2": false, "location_path": false,
		"${location_paths}": false, "$location": false, "": false, "$": false, "$$location_path": true,
	} {
		if got := (LogFormat{Format: format}).Names("location_path"); got != want {
			t.Errorf("%q: %v, want %v", format, got, want)
		}
	}
}

// Each variable of a client is replaced, with and without braces. A format that would be too long
// stays.
func TestMendedFormat(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]string{
		"": "", "plain": "plain", "$status": "$status", "$http_referer": "$logs_utf8_http_referer", "${uri}x${status}$": "${logs_utf8_uri}x${status}$",
		`{"a":"$http_a$arg_b","s":"$status-$host."}`: `{"a":"$logs_utf8_http_a$logs_utf8_arg_b","s":"$status-$logs_utf8_host."}`,
		strings.Repeat("$uri ", 260):                 strings.Repeat("$logs_utf8_uri ", 260), strings.Repeat("$uri ", 700): strings.Repeat("$uri ", 700),
	} {
		f := LogFormat{Format: format, EscapeJSON: true}
		if got := f.JSON(); got != want || (len(f.Unclean()) > 0) != (got != format) {
			t.Errorf("%.50q: %.80q, want %.80q; %v", format, got, want, f.Unclean())
		}
		if f.EscapeNone = true; f.JSON() != "" || f.Unclean() != nil {
			t.Errorf("%.50q: %v without escape=json", format, f)
		}
	}
	if got, want := (LogFormat{Format: "$uri $host $uri $status", EscapeJSON: true}).Unclean(), []Unclean{"host", "uri"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestFormatThatIsNotMended: the owner of a format is told that its lines can be no UTF-8.
func TestFormatThatIsNotMended(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]string{
		strings.Repeat("$uri ", 260): "", strings.Repeat("$status ", 430): "",
		strings.Repeat("$uri ", 400): `Unsupported ConfigMap ingress/controller: log-format-upstream: bytes that are not UTF-8 stay in its lines, and many readers of JSON drop such a line: want it shorter by 2001 bytes, so that the names of mended values have room`,
	} {
		_, problems := read(map[string]string{"log-format-upstream": format, "log-format-escape-json": "true"})
		if got := strings.Join(problems, ""); got != want {
			t.Errorf("%.20q: %s", format, got)
		}
		if _, problems := read(map[string]string{"log-format-upstream": format}); len(problems) > 0 {
			t.Errorf("%.20q: %v without escape=json", format, problems)
		}
	}
}
