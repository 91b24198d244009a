package golden

import (
	"flag"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// each has every nginx asked for the requests of every case, as -update does.
var each = flag.Bool("each", false, "ask every nginx for the requests of every case")

// apart are texts of a case in which two versions of nginx may answer in different ways:
// HTTP/2 and TLS, modules that one of them lacks, what other people write for nginx, how
// headers of one name are joined, what is logged and when a connection ends.
// Source: https://nginx.org/en/CHANGES, from 1.22 to 1.26.
var apart = regexp.MustCompile(`(?i)snippet|modsecurity|brotli|geoip|http2|http3|quic|grpc|fcgi|auth-tls|proxy-ssl|ssl-|(?:tcp|udp)-services|passthrough|keep-?alive|upgrade:|websocket|chunk|mirror-|x-accel|(?m:^\S+ https://)`)

// eachOf is how many of the other cases are one that every nginx is asked for: such that what
// nobody thought of has many chances to be seen.
const eachOf = 8

// eachAsks says whether every nginx is asked for the requests of a case, which the others only
// load. This can miss what two versions do in different ways with a directive that both
// take, and that is in none of the cases that both are asked for; -each, and -update, miss
// nothing.
func (c *testCase) eachAsks(t *testing.T) bool {
	t.Helper()
	if *update || *each || c.number()%eachOf == 0 {
		return true
	}
	for _, name := range []string{"log", "refused"} {
		if _, ok := c.section(name); ok {
			return true
		}
	}
	for _, name := range []string{"manifests.yaml", "claims.yaml", "options", "requests"} {
		if text, _ := c.section(name); apart.MatchString(text) {
			return true
		}
	}
	return slices.ContainsFunc(c.requests(t), func(r request) bool {
		for _, values := range r.header {
			if len(values) > 1 {
				return true
			}
		}
		return false
	})
}

// asks says whether the nginx of that number, of so many, is asked for the requests of a case:
// each is, or one of them by the name of the case.
func (c *testCase) asks(t *testing.T, at, of int) bool {
	t.Helper()
	return c.number()/eachOf%of == at || c.eachAsks(t)
}

// number is drawn from the name of the case.
func (c *testCase) number() int { return int(sum(filepath.Base(c.path)) >> 33) }

// Each nginx is asked for many cases, and one that is asked for all of them is not the only one.
func TestEachNginxIsAsked(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("cases/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	alone, together := [2]int{}, 0
	for _, path := range paths {
		c := readCase(t, path)
		switch {
		case c.eachAsks(t):
			together++
		case c.asks(t, 0, 2):
			alone[0]++
		default:
			alone[1]++
		}
	}
	t.Logf("of %d cases the requests go to the first nginx alone for %d, to the second for %d, to both for %d", len(paths), alone[0], alone[1], together)
	if !*update && !*each && (alone[0] < len(paths)/10 || alone[1] < len(paths)/10 || together < len(paths)/4) {
		t.Error("want a tenth of the cases for each alone, and a quarter for both")
	}
}
