package compare

import (
	"slices"
	"strings"
	"testing"
)

func TestAccessLog(t *testing.T) {
	t.Parallel()
	const ingressNginx = `10.0.0.1 - - [24/Nov/2026:13:58:33 +0000] "GET /cart/1?x=\x22y HTTP/1.1" 200 25 "-" "curl \"7\"" 104 0.004 [shop-web-80] [] 10.0.0.2:80 25 0.004 200 7f790e`
	core := coreOf(t, shop)
	for name, test := range map[string]struct {
		log, want string
		options   func(*Log)
	}{
		"ingress-nginx's format":      {log: ingressNginx, want: "GET https://shop.example/cart/1?x=\"y"},
		"with a host":                 {log: ingressNginx, want: "GET http://given.example/cart/1?x=\"y", options: func(l *Log) { l.Host = "given.example" }},
		"an unknown upstream":         {log: strings.Replace(ingressNginx, "shop-web-80", "shop-gone-80", 1), want: noHost},
		"a path of another rule":      {log: strings.Replace(ingressNginx, "/cart", "/other", 1), want: noHost},
		"combined":                    {log: `1.2.3.4 - bob smith [x] "GET /a HTTP/1.1" 200 5 "-" "x"`, want: noHost},
		"JSON":                        {log: `{"request_method":"GET","host":"shop.example","request_uri":"/a"}`, want: "GET https://shop.example/a"},
		"JSON with a request line":    {log: `{"request":"HEAD /a HTTP/2.0","host":"x.example","scheme":"https"}`, want: "HEAD https://x.example/a"},
		"JSON with other names":       {log: `{"m":"GET","vhost":"x.example","u":"/a"}`, want: "GET http://x.example/a", options: func(l *Log) { l.Fields = map[string]string{"method": "m", "host": "vhost", "uri": "u"} }},
		"JSON with values of a type":  {log: `{"request_method":7,"request_uri":"/a"}`, want: notALine},
		"another method":              {log: strings.Replace(ingressNginx, "GET", "POST", 1), want: otherMethod},
		"no request line":             {log: strings.Replace(ingressNginx, "GET /cart/1?x=\\x22y HTTP/1.1", "\\x16\\x03", 1), want: notALine},
		"a text":                      {log: "hello", want: notALine},
		"a line end in the URI":       {log: `{"request_method":"GET","host":"a","request_uri":"/a\r\nX: y"}`, want: notSendable},
		"a line end in the host":      {log: `{"request_method":"GET","host":"a\r\nX: y","request_uri":"/a"}`, want: notSendable},
		"a URI with a host":           {log: `{"request_method":"GET","host":"a","request_uri":"http://b/"}`, want: notSendable},
		"the same again, and another": {log: `{"request_method":"GET","host":"a","request_uri":"/1"}` + "\n" + strings.Repeat(`{"request_method":"GET","host":"a","request_uri":"/2"}`+"\n", 2), want: "GET http://a/2\nGET http://a/1"},
	} {
		o := Log{Fields: UsualFields, Methods: []string{"GET", "HEAD"}, Schemes: []string{"http", "https"}}
		if test.options != nil {
			test.options(&o)
		}
		requests, notes, err := FromAccessLog(strings.NewReader(test.log), core, o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got := strings.Join(linesOf(requests), "\n")
		if got == "" && len(notes) == 1 {
			_, got, _ = strings.Cut(notes[0], "left out: ")
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

// TestLogOfAScheme holds that a line is asked by a scheme that is compared.
func TestLogOfAScheme(t *testing.T) {
	t.Parallel()
	requests, _, err := FromAccessLog(strings.NewReader(`{"request_method":"GET","host":"shop.example","request_uri":"/a","scheme":"https"}`), coreOf(t, shop),
		Log{Fields: UsualFields, Methods: []string{"GET"}, Schemes: []string{"http"}})
	if err != nil || !slices.Equal(linesOf(requests), []string{"GET http://shop.example/a"}) {
		t.Errorf("got %v, %v", requests, err)
	}
}

func FuzzAccessLog(f *testing.F) {
	f.Add(`1.2.3.4 - - [x] "GET /a HTTP/1.1" 200 5`)
	f.Add(`{"request":"GET /a HTTP/1.1","host":"a"}`)
	core := &Core{}
	f.Fuzz(func(t *testing.T, line string) {
		requests, _, _ := FromAccessLog(strings.NewReader(line), core, Log{Fields: UsualFields, Host: "a", Methods: []string{"GET"}, Schemes: []string{"http"}})
		for _, r := range requests {
			if !sendable(r.Target) || !sendable("/"+r.Host) {
				t.Errorf("%q", r)
			}
		}
	})
}

func TestCurl(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]Request{
		`curl -sSi -g --http1.1 --path-as-is --noproxy '*' --connect-to '::192.0.2.1:80' 'http://a.example/x'`:                                                                {Method: "GET", Scheme: "http", Host: "a.example", Target: "/x"},
		`curl -sSi -g --http1.1 --path-as-is --noproxy '*' -k -I --connect-to '::192.0.2.1:80' 'https://a.example//x'`:                                                        {Method: "HEAD", Scheme: "https", Host: "a.example", Target: "//x"},
		`curl -sSi -g --http1.1 --path-as-is --noproxy '*' -X 'POST' -H 'Host: A.example:80' -H 'X-A: it'\''s; $(x)' --connect-to '::192.0.2.1:80' 'http://a.example/'\''$x'`: {Method: "POST", Scheme: "http", Host: "A.example:80", Target: "/'$x", Headers: ok("X-A: it's; $(x)").Headers},
	} {
		if got := curl(r, "192.0.2.1:80"); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}
