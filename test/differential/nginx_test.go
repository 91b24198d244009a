package differential

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sluice/internal/model"
	"sluice/internal/render"
	"sluice/internal/route"
	"sluice/test/kit"
)

// newSite makes a state directory for an nginx that listens on loopback.
func newSite(t testing.TB, nginx kit.Nginx) *kit.Site {
	t.Helper()
	site := nginx.Site(t)
	site.Environment.Addresses = []string{"127.0.0.1"}
	return site
}

// answers asks an nginx that runs the file of a world all its requests.
func (w *world) answers(t testing.TB, site *kit.Site, config *model.Config) []reply {
	t.Helper()
	file, problems := kit.Templates(t).Render(config.Static, site.Environment, nil)
	if len(problems) > 0 {
		t.Fatalf("render leaves something out, which the model does not tell: %v", problems[0])
	}
	site.Write(t, file.Trust(), file.Bytes())
	defer func() {
		if t.Failed() {
			nameOwner(t, site, file)
		}
	}()
	server := site.Start(t)
	defer server.Stop(syscall.SIGTERM, kit.Patience)
	if err := server.Client.Push(context.Background(), kit.WithEndpoints(config.Dynamic, echo)); err != nil {
		t.Fatal(err)
	}
	replies := askAll(fmt.Sprintf("127.0.0.1:%d", site.Environment.HTTPPort), w.requests)
	for i, got := range replies {
		replies[i].gaveUp = got.status == http.StatusInternalServerError && gaveUp(server.Log.Lines(t, "pcre2_match() failed: -47"), w.requests[i])
	}
	return replies
}

// gaveUp tells a request for which PCRE reached its limit of steps, which nobody
// can foretell, by the lines of the log that say so.
func gaveUp(lines []string, q asked) bool {
	return slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, `request: "GET `+q.target+` HTTP/`) })
}

var refusedLine = regexp.MustCompile(`nginx\.conf:(\d+)`)

// nameOwner says whose line nginx refuses, if it does.
func nameOwner(t testing.TB, site *kit.Site, file *render.File) {
	t.Helper()
	said, err := site.Check()
	if m := refusedLine.FindStringSubmatch(said); err != nil && m != nil {
		line, _ := strconv.Atoi(m[1])
		origin, _ := file.Origin(line)
		t.Logf("%s nginx refuses a line of %s, host %q: %s\n%s", site.Name, origin.Object, origin.Host, said, bytes.Split(file.Bytes(), []byte("\n"))[line-1])
	}
}

// clients is how many requests are under way at a time.
const clients = 4

// askAll sends requests over a few kept connections and gives the replies in
// their order.
func askAll(address string, requests []asked) []reply {
	replies := make([]reply, len(requests))
	var clientsDone sync.WaitGroup
	for i := range clients {
		clientsDone.Go(func() {
			c := &client{address: address}
			defer c.close()
			for at := i; at < len(requests); at += clients {
				replies[at] = c.ask(requests[at].request)
			}
		})
	}
	clientsDone.Wait()
	return replies
}

// client is one connection, which is opened again where nginx closes it.
type client struct {
	address    string
	connection net.Conn
	in         *bufio.Reader
}

func (c *client) close() {
	if c.connection != nil {
		c.connection.Close()
		c.connection = nil
	}
}

// ask sends a request. A connection that was kept may have been closed
// meanwhile: the request is then sent again on a new one.
func (c *client) ask(q request) reply {
	kept := c.connection != nil
	got, err := c.try(q)
	if err != nil && kept {
		c.close()
		got, err = c.try(q)
	}
	if err != nil {
		c.close()
		return reply{fault: err.Error()}
	}
	return got
}

func (c *client) try(q request) (reply, error) {
	if c.connection == nil {
		connection, err := net.Dial("tcp", c.address)
		if err != nil {
			return reply{}, err
		}
		c.connection, c.in = connection, bufio.NewReader(connection)
	}
	if err := c.connection.SetDeadline(time.Now().Add(kit.Patience)); err != nil {
		return reply{}, err
	}
	if _, err := c.connection.Write(q.bytes()); err != nil {
		return reply{}, err
	}
	response, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return reply{}, err
	}
	body, err := io.ReadAll(response.Body)
	if response.Close || err != nil {
		c.close()
	}
	return replyOf(response, body), err
}

// replyOf reads what nginx or an echo answered.
func replyOf(response *http.Response, body []byte) reply {
	got := reply{status: response.StatusCode, location: response.Header.Get("Location")}
	if got.status == http.StatusMovedPermanently {
		got.location = decoded(got.location)
	}
	if key, target, echoed := bytes.Cut(body, []byte("\n")); echoed && got.status == http.StatusOK {
		got.service, got.target = string(key), string(target)
	}
	return got
}

// decoded takes the percent escapes off the path of a URL.
func decoded(location string) string {
	path, query, asks := strings.Cut(location, "?")
	if plain, err := route.Decode(path); err == nil {
		path = plain
	}
	if asks {
		path += "?" + query
	}
	return path
}

// reply is what became of a request.
type reply struct {
	// status is 200 where a service answered.
	status int
	// service is the key of the backend that answered, and target what it was
	// asked for.
	service, target string
	// location is where a redirect leads; that of a 301 has its path decoded.
	location string
	// rewritten is set in what is foretold where route does not tell the target.
	rewritten bool
	// gaveUp is set where PCRE gave up a pattern.
	gaveUp bool
	// fault is why nginx gave no answer.
	fault string
}

// String is the reply in a few words.
func (r reply) String() string {
	switch {
	case r.fault != "":
		return "no answer: " + r.fault
	case r.service != "" && r.rewritten:
		return r.service + ", rewritten"
	case r.service != "":
		return fmt.Sprintf("%s as %q", r.service, r.target)
	}
	return strings.TrimSpace(fmt.Sprint(r.status, " ", r.location))
}
