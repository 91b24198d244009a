package golden

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"sluice/internal/render"
	"sluice/test/kit"
)

// running is an nginx that serves a case.
type running struct {
	*kit.Server
	ports render.Environment
}

// check wants nginx to take the configuration of a site.
func check(t *testing.T, site *kit.Site) {
	t.Helper()
	if said, err := site.Check(); err != nil {
		t.Fatalf("%s nginx refuses the configuration: %v\n%s", site.Name, err, said)
	}
}

// refuses wants nginx to refuse the configuration of a site with these words.
func refuses(t *testing.T, site *kit.Site, words string) {
	t.Helper()
	said, err := site.Check()
	if err == nil || words == "" || !strings.Contains(said, words) {
		t.Errorf("%s nginx must refuse the configuration and say %q: %v\n%s", site.Name, words, err, said)
	}
}

// Lines of nginx's debug log. An accepted connection is told by the address of
// its client, so that those to the control socket are not taken for it.
const (
	acceptLine   = `\*(\d+) accept: %s `
	chosenLine   = `(?m)\*%s using configuration "(.*)"$`
	namedLine    = `(?m)\*%s using location: (@\w+) `
	finishedLine = "*%s close http connection"
)

// chosen reads from the debug log which location nginx chose for the request of
// a client's connection: "=/foo", "/foo", "^/pattern", "@name", or "" where it
// chose none. It waits until nginx is done with the connection, which began when
// the log had a number of bytes.
func (n *running) chosen(t *testing.T, client string, logged int64) (string, error) {
	t.Helper()
	accept := regexp.MustCompile(fmt.Sprintf(acceptLine, regexp.QuoteMeta(client)))
	for deadline := time.Now().Add(kit.Patience); ; time.Sleep(time.Millisecond) {
		text := n.Log.Since(t, logged)
		accepted := accept.FindAllStringSubmatch(text, -1)
		if len(accepted) > 0 {
			connection := accepted[len(accepted)-1][1]
			if strings.Contains(text, fmt.Sprintf(finishedLine, connection)) {
				return chosenOf(text, connection), nil
			}
		}
		if time.Now().After(deadline) {
			return "", fmt.Errorf("nginx's debug log says nothing about the request of %s:\n%s", client, text)
		}
	}
}

// chosenOf finds the location of a connection in a log.
func chosenOf(text, connection string) string {
	for _, pattern := range []string{chosenLine, namedLine} {
		if m := regexp.MustCompile(fmt.Sprintf(pattern, connection)).FindStringSubmatch(text); m != nil {
			return m[1]
		}
	}
	return ""
}
