package injection

import (
	"fmt"
	"strings"
	"testing"

	"sluice/internal/snapshot"
	"sluice/test/kit"
)

// fronted are hosts that proxies in front are believed about, or not: an allow
// list, a deny list, redirects, and a location with headers of its own.
const fronted = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec: {ports: [{port: 80}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: default, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
endpoints: [{addresses: [10.0.0.1]}]
ports: [{port: 80}]
`

// frontedHosts are annotations by the name of the Ingress, which is served as
// NAME.example.
var frontedHosts = map[string]map[string]string{
	"allowed": {"allowlist-source-range": "192.0.2.7"},
	"denied":  {"denylist-source-range": "127.0.0.0/8, 198.51.100.0/24"},
	"both":    {"denylist-source-range": "192.0.2.7", "allowlist-source-range": "192.0.2.0/24"},
	"open":    nil,
	"own":     {"upstream-vhost": "own.internal", "connection-proxy-header": "close"},
	"root":    {"app-root": "/app"},
	"moved":   {"permanent-redirect": "/new"},
	"secure":  {"force-ssl-redirect": "true"},
}

func frontedObjects(t *testing.T, data map[string]string) snapshot.Objects {
	t.Helper()
	objects := withData(objectsOf(t, fronted), data)
	for name, annotations := range frontedHosts {
		objects.Ingresses = append(objects.Ingresses, simple(name, "/", annotations))
	}
	return objects
}

// The addresses of the tests: the client is 127.0.0.1, 192.0.2.7 is let in and
// 198.51.100.1 is anybody.
const (
	forwardedFor = "X-Forwarded-For: 192.0.2.7\r\n"
	claims       = forwardedFor + "X-Real-IP: 192.0.2.7\r\nForwarded: for=192.0.2.7\r\nTrue-Client-IP: 192.0.2.7\r\nCF-Connecting-IP: 192.0.2.7\r\nX-Client-IP: 192.0.2.7\r\nX-Original-Forwarded-For: 192.0.2.7\r\n"
	announced    = "PROXY TCP4 192.0.2.7 192.0.2.1 4444 80\r\n"
	anybody      = "PROXY TCP4 198.51.100.1 192.0.2.1 4444 80\r\n"
	guess        = "X-Real-Ip-TOKEN: 192.0.2.7\r\nX-Real-Ip-: 192.0.2.7\r\n"
)

// spoofs are settings with what a client says before its request and in it. in is
// set where it is right to believe it.
var spoofs = []struct {
	data    map[string]string
	clients []spoof
}{
	{nil, []spoof{{"", claims, false}, {announced, claims, false}}},
	{map[string]string{"use-forwarded-headers": "true", "proxy-real-ip-cidr": "10.0.0.0/8"}, []spoof{{"", claims, false}}},
	{map[string]string{"use-forwarded-headers": "true", "proxy-real-ip-cidr": ""}, []spoof{{"", claims, false}}},
	{map[string]string{"use-forwarded-headers": "true", "proxy-real-ip-cidr": "127.0.0.1, nonsense"}, []spoof{{"", claims, false}}},
	{map[string]string{"use-forwarded-headers": "true", "proxy-real-ip-cidr": "127.0.0.0/8"}, []spoof{
		{"", forwardedFor, true},
		{"", "X-Forwarded-For: 192.0.2.7, 198.51.100.1\r\n", false},
		{"", "X-Forwarded-For: 192.0.2.7, nonsense\r\n", false},
		{"", "X-Forwarded-For: 192.0.2.7;\r\n", false},
		{"", "X-Forwarded-For: 192.0.2.7\t198.51.100.1\r\n", false},
		{"", forwardedFor + "X-Forwarded-For: 198.51.100.1\r\n", false},
		{"", "X_Forwarded_For: 192.0.2.7\r\n", false},
		{"", "X-Forwarded-For : 192.0.2.7\r\n", false},
		{"", guess, false},
	}},
	{map[string]string{"use-forwarded-headers": "true", "forwarded-for-header": "X-Edge"}, []spoof{{"", "X-Edge: 192.0.2.7\r\n", true}, {"", claims, false}, {"", "X-Edge: 198.51.100.1\r\n" + claims, false}}},
	{map[string]string{"use-proxy-protocol": "true", "proxy-real-ip-cidr": "127.0.0.0/8"}, []spoof{
		{announced, "", true}, {anybody, claims, false}, {"PROXY UNKNOWN 192.0.2.7 192.0.2.1 4444 80\r\n", claims, false}, {anybody + announced, "", false},
	}},
	{map[string]string{"use-proxy-protocol": "true", "proxy-real-ip-cidr": "10.0.0.0/8"}, []spoof{{announced, claims, false}}},
	{map[string]string{"use-proxy-protocol": "true", "use-forwarded-headers": "true", "proxy-real-ip-cidr": "127.0.0.0/8"}, []spoof{
		{"PROXY TCP4 127.0.0.9 127.0.0.1 4444 80\r\n", forwardedFor, true}, {announced, "", true}, {announced, guess, true},
		{anybody, claims, false}, {anybody, guess, false}, {anybody, guess + forwardedFor, false}, {"PROXY UNKNOWN\r\n", claims + guess, false},
	}},
	{map[string]string{"use-proxy-protocol": "true", "use-forwarded-headers": "true", "proxy-real-ip-cidr": "10.0.0.0/8"}, []spoof{
		{"PROXY TCP4 10.0.0.1 10.0.0.2 4444 80\r\n", claims, false}, {announced, claims + guess, false},
	}},
	{map[string]string{"enable-real-ip": "true", "proxy-real-ip-cidr": "10.0.0.0/8"}, []spoof{{"", claims, false}}},
}

type spoof struct {
	before, headers string
	in              bool
}

func (c spoof) request(host, uri string) string {
	return fmt.Sprintf("%sGET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n%s\r\n", c.before, uri, host, c.headers)
}

// Nobody gets past a list of addresses by saying who he is (as was done to many
// that believed X-Forwarded-For): neither in a header nor in front of the request.
// What is not tried is the name of the header that the address is passed on by: who
// knew it could choose his address, so that it is 128 random bits.
func TestSpoofedAddresses(t *testing.T) {
	eachNginx(t, func(t *testing.T, installed kit.Nginx) {
		for _, s := range spoofs {
			t.Run(fmt.Sprint(s.data), func(t *testing.T) {
				t.Parallel()
				site := serving(t, installed, frontedObjects(t, s.data))
				for _, client := range s.clients {
					allowed := site.exchange(t, client.request("allowed.example", "/"))
					if in := allowed.status == 200; in != client.in {
						t.Errorf("%q: the allow list answers %d", client.before+client.headers, allowed.status)
					}
					if client.in {
						continue
					}
					for _, host := range []string{"denied.example", "both.example"} {
						if got := site.exchange(t, client.request(host, "/")); got.status == 200 {
							t.Errorf("%q: %s lets in, and the backend is told %q", client.before+client.headers, host, got.header["Got-X-Real-Ip"])
						}
					}
				}
			})
		}
	})
}

// lies are what a peer says of itself that is no proxy in front.
const lies = "X-Forwarded-Proto: https\r\nX-Forwarded-Host: evil.example\r\nX-Forwarded-Port: 6666\r\nX-Forwarded-Scheme: https\r\nX-Scheme: https\r\nX-Forwarded-Server: evil.example\r\n" +
	"X-Forwarded-Prefix: /evil\r\nForwarded: host=evil.example;proto=https\r\nX-Original-URI: /evil\r\nX-Original-URL: /evil\r\nX-Rewrite-URL: /evil\r\n" + guess

// What such a peer says reaches neither a Location (CVE-2024-52003 of Traefik was
// an open redirect by X-Forwarded-Prefix) nor the headers that are nginx's to say.
func TestLiesOfPeers(t *testing.T) {
	eachNginx(t, func(t *testing.T, installed kit.Nginx) {
		for _, c := range []struct {
			data   map[string]string
			before string
		}{
			{nil, ""},
			{map[string]string{"use-forwarded-headers": "true", "proxy-real-ip-cidr": "10.0.0.0/8", "compute-full-forwarded-for": "true", "proxy-add-original-uri-header": "true"}, ""},
			{map[string]string{"use-proxy-protocol": "true", "proxy-real-ip-cidr": "10.0.0.0/8"}, "PROXY TCP4 10.0.0.1 10.0.0.2 6666 443\r\n"},
			{map[string]string{"use-proxy-protocol": "true", "use-forwarded-headers": "true", "proxy-real-ip-cidr": "10.0.0.0/8", "compute-full-forwarded-for": "true"}, "PROXY TCP4 10.0.0.1 10.0.0.2 6666 443\r\n"},
		} {
			t.Run(fmt.Sprint(c.data), func(t *testing.T) {
				t.Parallel()
				s := serving(t, installed, frontedObjects(t, c.data))
				liar := spoof{before: c.before, headers: lies + "X-Forwarded-For: 6.6.6.6\r\n"}
				for host, want := range map[string]string{
					"root": "http://root.example/app", "moved": "http://moved.example/new", "secure": "https://secure.example",
				} {
					if got := s.exchange(t, liar.request(host+".example", "/")).header.Get("Location"); got != want {
						t.Errorf("%s is redirected to %q, want %q", host, got, want)
					}
				}
				for _, name := range []string{"open", "own"} {
					s.toldTheTruth(t, name, s.exchange(t, liar.request(name+".example", "/")))
				}
			})
		}
	})
}

// toldTheTruth checks what a backend was told of a request over plain HTTP.
func (s *site) toldTheTruth(t *testing.T, name string, got answer) {
	t.Helper()
	host := name + ".example"
	want := map[string]string{
		"Host": host, "X-Forwarded-Host": host, "X-Forwarded-Proto": "http", "X-Forwarded-Scheme": "http", "X-Scheme": "http", "X-Real-Ip": "127.0.0.1",
		"X-Forwarded-For": "127.0.0.1", "X-Forwarded-Port": fmt.Sprint(s.Environment.HTTPPort),
	}
	if name == "own" {
		want["Host"] = "own.internal"
	}
	for header, value := range want {
		if told := strings.Join(got.header["Got-"+header], ", "); told != value {
			t.Errorf("%s: the backend is told %s: %s, want %s (status %d)", name, header, told, value, got.status)
		}
	}
	for header, values := range got.header {
		if strings.EqualFold(header, "Got-X-Real-Ip-"+s.Environment.Token) {
			t.Errorf("%s: the backend is told the name that the address is passed on by: %s %q", name, header, values)
		}
	}
}
