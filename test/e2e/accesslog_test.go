package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-logfmt/logfmt"
)

// hostileAgent would end a value, a line, or an object.
const hostileAgent = `x","status":"999"} status=999 \" ä` + "\x80"

// TestFormatsOfTheAccessLog reads the lines of the presets as their readers do, one Ingress
// with each, with values that a client chose.
func TestFormatsOfTheAccessLog(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web), "config.yaml": settings(`access-log-format: json`),
			"json.yaml":   ingress("json", "json.example", []string{"/ Prefix web"}),
			"logfmt.yaml": ingress("logfmt", "logfmt.example", []string{"/ Prefix web"}, "sluice.io/access-log-format: logfmt"),
		}, "--configmap", "default/config")
		for kind, read := range map[string]func(line string) (map[string]string, error){"json": readJSON, "logfmt": readLogfmt} {
			s.waitBackend("http://"+kind+".example/", "web")
			got, err := s.ask(http.MethodGet, "http://"+kind+".example/"+kind+"?a=%22&b=%0a%5c", http.Header{"User-Agent": {hostileAgent}, "X-Request-Id": {"one-id"}})
			if err != nil || got.status != http.StatusOK {
				t.Fatalf("%+v, %v", got, err)
			}
			s.waitLine("/" + kind + "?a")
			lines := s.lines("/" + kind + "?a") // that of a former request can come later
			fields, err := read(lines[len(lines)-1])
			if err != nil {
				t.Fatalf("%s: %v: %q", kind, err, lines[len(lines)-1])
			}
			for name, want := range map[string]string{
				"status": "200", "method": "GET", "host": kind + ".example", "uri": "/" + kind + "?a=%22&b=%0a%5c", "namespace": "default", "ingress": kind, "service": "web",
				"request_id": "one-id", "referer": "", "remote_user": "", "upstream_status": "200", "remote_addr": "127.0.0.1", "upstream_addr": strings.TrimPrefix(web.URL, "http://"),
			} {
				if value, there := fields[name]; !there || value != want {
					t.Errorf("%s: %s is %q, want %q", kind, name, value, want)
				}
			}
			if agent := fields["user_agent"]; !strings.HasPrefix(agent, `x","status":"999"} status=999 \" ä`) {
				t.Errorf("%s: the user agent is %q", kind, agent)
			}
			if fields["connection"] == "" || fields["request_time"] == "" {
				t.Errorf("%s: %v", kind, fields)
			}
		}
	})
}

func readJSON(line string) (map[string]string, error) {
	var values map[string]any
	decoder := json.NewDecoder(strings.NewReader(line))
	decoder.UseNumber()
	if err := decoder.Decode(&values); err != nil {
		return nil, err
	}
	fields := map[string]string{}
	for name, value := range values {
		fields[name] = fmt.Sprint(value)
	}
	return fields, nil
}

func readLogfmt(line string) (map[string]string, error) {
	decoder, fields := logfmt.NewDecoder(strings.NewReader(line)), map[string]string{}
	decoder.ScanRecord()
	for decoder.ScanKeyval() {
		if _, twice := fields[string(decoder.Key())]; twice {
			return nil, fmt.Errorf("%s is there twice", decoder.Key())
		}
		fields[string(decoder.Key())] = string(decoder.Value())
	}
	return fields, decoder.Err()
}

// TestSharesOfTheAccessLog: about half of the answers with 200 are in the log, all of the
// others, and a client cannot choose by the ID of its request.
func TestSharesOfTheAccessLog(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", backend(t, "web")), "config.yaml": settings(`access-log-sampling: "200=50%"`, `log-format-upstream: "$status of $request_uri"`),
			"web-ingress.yaml": ingress("web", "web.example", []string{"/ Prefix web", "/none Prefix missing"}),
		}, "--configmap", "default/config")
		s.waitBackend("http://web.example/", "web")
		const asked = 200
		for range asked {
			for _, path := range []string{"/counted", "/none"} {
				if _, err := s.ask(http.MethodGet, "http://web.example"+path, http.Header{"X-Request-Id": {"the-same-id"}}); err != nil {
					t.Fatal(err)
				}
			}
		}
		eventually(t, "a line of each failure", func() bool { return len(s.lines("503 of /none")) == asked })
		// With a half of 200, fewer than 60 or more than 140 have a chance of 1 in 10^8.
		if logged := len(s.lines("200 of /counted")); logged < 60 || logged > 140 {
			t.Errorf("%d of %d requests are in the log, want about half", logged, asked)
		}
	})
}

// TestLevelOfTheLog changes what the controller logs while it runs, without a reload.
func TestLevelOfTheLog(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		s := start(t, root, map[string]string{
			"class.yaml": class, "config.yaml": settings(), "web.yaml": service("web", backend(t, "web")), "web-ingress.yaml": ingress("web", "web.example", []string{"/ Prefix web"}),
		}, "--configmap", "default/config")
		s.waitBackend("http://web.example/", "web")
		if details := s.lines("level=DEBUG"); len(details) > 0 {
			t.Errorf("at the level info: %q", details)
		}
		before := s.reloads()
		s.write("config.yaml", settings(`controller-log-level: debug`))
		s.waitLine("level=DEBUG")
		s.write("web.yaml", service("web", backend(t, "other")))
		s.waitLine(`level=DEBUG msg="endpoints and certificates pushed"`)
		s.noReloadSince(before, "levels of the log")
		served := func(url string) { // waitBackend would wait for the line of the sync, which is not written
			eventually(t, url+" to be answered", func() bool {
				got, err := s.get(url)
				return err == nil && got.backend == "other"
			})
		}
		s.write("config.yaml", settings(`controller-log-level: error`)+"---\n"+ingress("late", "late.example", []string{"/ Prefix web"}))
		served("http://late.example/")
		s.write("broken.yaml", ingress("broken", "broken.example", []string{"/ Prefix web"}, "proxy-body-size: much")+ingress("beside", "beside.example", []string{"/ Prefix web"}))
		served("http://beside.example/")
		if told := s.lines("object=\"Ingress default/broken"); len(told) > 0 {
			t.Errorf("at the level error: %q", told)
		}
	})
}

// TestLogsInJSONAreUTF8: readers drop a line that is not, and nginx escapes no such byte.
func TestLogsInJSONAreUTF8(t *testing.T) {
	eachNginx(t, func(t *testing.T, root string) {
		web := backend(t, "web")
		s := start(t, root, map[string]string{
			"class.yaml": class, "web.yaml": service("web", web),
			"config.yaml": settings(`access-log-format: json`, `large-client-header-buffers: "4 32k"`, `log-format-escape-json: "true"`, `log-format-upstream: "{\"id\":\"$req_id\",\"user_agent\":\"${http_user_agent}\",\"referer\":\"$http_referer\"}"`),
			"json.yaml":   ingress("json", "json.example", []string{"/ Prefix web"}),
			"logfmt.yaml": ingress("logfmt", "logfmt.example", []string{"/ Prefix web"}, "sluice.io/access-log-format: logfmt"),
			"text.yaml":   ingress("text", "text.example", []string{"/ Prefix web"}, "sluice.io/access-log-format: text"),
		}, "--configmap", "default/config")
		long := strings.Repeat("ä\t€😀", 300)
		values := map[string]string{
			"plain": "plain", "ä€😀\U0010FFFF": "ä€😀\U0010FFFF", "a\xff": "a\uFFFD", "\xff": "\uFFFD", "a\xff\xfe\x80b\xc3": "a\uFFFDb\uFFFD", "\xffä\xffb\xffc": "\uFFFDä\uFFFDb\uFFFDc",
			"\xed\xa0\x80": "\uFFFD", "\xf4\x90\x80\x80.": "\uFFFD.", "\xc0\xaf": "\uFFFD", "\xe2\x82 \xe2\x82\xac": "\uFFFD €", "\uFFFD\xff\uFFFD": "\uFFFD\uFFFD\uFFFD", `"\` + "\x80": `"\` + "\uFFFD",
			long: long, long + "\x80" + long: long + "\uFFFD" + long,
			strings.Repeat("a\xff", 16) + "b": strings.Repeat("a\uFFFD", 16) + "b", strings.Repeat("a\xff", 40): strings.Repeat("a\uFFFD", 16) + "a",
			strings.Repeat("ä", 9000): strings.Repeat("ä", 9000), strings.Repeat("a", 8192) + "\xffb": strings.Repeat("a", 8192), "\xff" + strings.Repeat("ä", 9000): "\uFFFD" + strings.Repeat("ä", 4095) + "\uFFFD",
		}
		for _, kind := range []string{"json", "logfmt", "text"} {
			s.waitBackend("http://"+kind+".example/", "web")
			number := 0
			for value, want := range values {
				number++
				id := fmt.Sprintf("%s-%d-", kind, number)
				got, err := s.ask(http.MethodGet, "http://"+kind+".example/", http.Header{"User-Agent": {value}, "Referer": {"." + value}, "X-Request-Id": {id}, "Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte(value+":x"))}})
				if err != nil || got.status != http.StatusOK {
					t.Fatalf("%q: %+v, %v", value, got, err)
				}
				s.waitLine(id)
				line := s.lines(id)[0]
				fields, err := map[bool]func(string) (map[string]string, error){true: readLogfmt, false: readJSON}[kind == "logfmt"](line)
				if err != nil || !utf8.ValidString(line) || fields["user_agent"] != want || len(value) <= 8192 && fields["referer"] != "."+want {
					t.Errorf("%s: %q is %q, error %v, want %q; the line is UTF-8: %v", kind, value, fields["user_agent"], err, want, utf8.ValidString(line))
				}
			}
		}
	})
}
