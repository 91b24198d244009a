package injection

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"sluice/test/kit"
)

// second gives a PROXY header of version 2, by its command, its family and what
// follows the length.
// Source: https://www.haproxy.org/download/1.8/doc/proxy-protocol.txt
func second(command, family byte, rest string) string {
	header := append([]byte("\r\n\r\n\x00\r\nQUIT\n"), command, family)
	return string(binary.BigEndian.AppendUint16(header, uint16(len(rest)))) + rest
}

const (
	inet4 = "\xc0\x00\x02\x09\xc0\x00\x02\x01\x11\x5c\x00\x50"                                                                                                 // 192.0.2.9 to 192.0.2.1
	inet6 = "\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x07\x20\x01\x0d\xb8\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x11\x5c\x00\x50" // 2001:db8::7
)

// noPROXY are beginnings of connections that are no PROXY header: nothing may be
// answered that came with them.
var noPROXY = []string{
	"", "\r\n", "PROXY\r\n", "PROXY \r\n", "PROXY TCP4\r\n", "PROXY TCP4 192.0.2.7\r\n", "PROXY TCP4 192.0.2.7 192.0.2.1\r\n", "PROXY TCP4 192.0.2.7 192.0.2.1 4444\r\n", "PROXY TCP4 192.0.2.7 192.0.2.1 4444 80\n",
	"PROXY TCP4 192.0.2.7 192.0.2.1 99999999 80\r\n", "PROXY TCP4 192.0.2.7 192.0.2.1 -1 80\r\n", "PROXY TCP4 192.0.2.7;x 192.0.2.1 4444 80\r\n", "PROXY TCP4 $host ${host} 4444 80\r\n", "PROXY TCP9 192.0.2.7 192.0.2.1 4444 80\r\n",
	"proxy tcp4 192.0.2.7 192.0.2.1 4444 80\r\n", " PROXY TCP4 192.0.2.7 192.0.2.1 4444 80\r\n", "PROXY\x00TCP4 192.0.2.7 192.0.2.1 4444 80\r\n",
	"GET / HTTP/1.1\r\nPROXY TCP4 192.0.2.7 192.0.2.1 4444 80\r\n", second(0x31, 0x11, inet4), second(0x21, 0x11, inet4[:8]), second(0x21, 0x21, inet4), "\r\n\r\n\x00\r\nQUI\x00\x21\x11\x00\x0c" + inet4,
}

// unnamed are PROXY headers of which no address can be had: who sends one is the
// peer. Envoy ended at some of them (CVE-2024-23327: LOCAL, CVE-2024-23325: a
// family that the machine does not have), and let pass what had bytes in it that
// are no UTF-8 (CVE-2024-23324).
var unnamed = []string{
	"PROXY TCP4 " + strings.Repeat("1", 300) + " 192.0.2.1 4444 80\r\n", "PROXY TCP4 :::::::: a 4444 80\r\n", "PROXY UNKNOWN\r\n", "PROXY UNKNOWN 192.0.2.7 192.0.2.1 4444 80\r\n", "PROXY UNKNOWN " + injected + "\r\n", second(0x20, 0x00, ""), second(0x20, 0x11, inet4), second(0x21, 0x00, ""),
	second(0x21, 0x31, strings.Repeat("\x00", 216)), second(0x21, 0x31, strings.Repeat("/", 216)), second(0x20, 0x00, "\x02\x00\x03\xff\xfe\x00"),
}

// TestPROXYHeaders has nginx read what is no PROXY header, and what is one but
// says nothing. It goes on serving others, and nobody is taken for somebody else.
func TestPROXYHeaders(t *testing.T) {
	eachNginx(t, func(t *testing.T, installed kit.Nginx) {
		for _, both := range []string{"false", "true"} {
			t.Run("with headers: "+both, func(t *testing.T) {
				t.Parallel()
				s := serving(t, installed, frontedObjects(t, map[string]string{"use-proxy-protocol": "true", "use-forwarded-headers": both, "proxy-real-ip-cidr": "127.0.0.0/8"}))
				for _, before := range noPROXY {
					if got := s.exchange(t, spoof{before: before, headers: claims}.request("open.example", "/")); got.backend != "" {
						t.Errorf("%.80q: %s answers", before, got.backend)
					}
				}
				for _, before := range unnamed {
					s.seen(t, before, "127.0.0.1")
					if got := s.exchange(t, spoof{before: before, headers: claims}.request("allowed.example", "/")); got.status != 403 {
						t.Errorf("%.80q: the allow list answers %d", before, got.status)
					}
				}
				s.seen(t, anybody, "198.51.100.1")
				s.seen(t, second(0x21, 0x11, inet4), "192.0.2.9")
				s.seen(t, second(0x21, 0x11, inet4+"\x02\x00\x03\xff\xfe\x00"), "192.0.2.9")
				s.seen(t, second(0x21, 0x21, inet6), "2001:db8::7")
			})
		}
	})
}

// seen checks whom a backend is told that a client with a PROXY header is.
func (s *site) seen(t *testing.T, before, want string) {
	t.Helper()
	got := s.exchange(t, spoof{before: before, headers: claims}.request("open.example", "/"))
	if told := fmt.Sprint(got.header["Got-X-Real-Ip"]); told != "["+want+"]" {
		t.Errorf("%.80q: the backend is told %s, want %s (status %d)", before, told, want, got.status)
	}
}
