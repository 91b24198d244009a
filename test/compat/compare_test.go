package compat

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"sluice/internal/compare"
	"sluice/internal/compare/client"
	"sluice/internal/manifest/decode"
	"sluice/internal/snapshot"
	"sluice/internal/translate"
	"sluice/test/kit"
	"sluice/test/recorded"
)

// replayed is a recorded answer, with the request that it answers.
type replayed struct {
	world    *recorded.World
	question string
	index    int
	want     recorded.Answer
	request  compare.Request
}

// replayable gives the requests of a scenario that depend on nothing but method, scheme, host
// and path, until its objects change.
func replayable(t *testing.T, w *recorded.World) (list []replayed) {
	t.Helper()
	if w.Proxy || w.Unreachable() || strings.HasPrefix(w.Name, "limit-") {
		return nil
	}
	answers := recorded.ReadRecord(t, w.Name)
	for i := range w.Requests {
		r := &w.Requests[i]
		if r.Change != nil {
			break
		}
		c := w.NewCall(r, "")
		want := answers.Answers[i]
		special := len(r.Headers)+len(r.H)+len(r.Only)+r.Body+r.TCP > 0 || r.Repeat > 1 || r.Session+r.Client+r.ClientIP+r.ProxyHeader+r.Data != "" || r.SNI != nil
		if special || r.H2 || r.H10 || r.WS || r.GRPC || want.Err != "" || c.Verb() != "GET" && c.Verb() != "HEAD" || !strings.HasPrefix(c.Path, "/") {
			continue
		}
		list = append(list, replayed{w, w.Question(i), i, want, compare.Request{Method: c.Verb(), Scheme: c.Scheme, Host: c.Host, Target: c.Path}})
	}
	return list
}

// replay is a server that gives recorded answers.
type replay struct {
	certificate tls.Certificate
	answers     map[string]recorded.Answer
}

// serve gives the port of the server for a scheme.
func (p *replay) serve(t *testing.T, scheme string) int {
	t.Helper()
	return kit.Accept(t, func(connection net.Conn) {
		defer connection.Close()
		if scheme == "https" {
			connection = tls.Server(connection, &tls.Config{Certificates: []tls.Certificate{p.certificate}})
		}
		line, err := bufio.NewReader(connection).ReadString('\n')
		if err != nil {
			return
		}
		method, rest, _ := strings.Cut(line, " ")
		target, _, _ := strings.Cut(rest, " ")
		_, _ = connection.Write(p.bytes(method, target))
	})
}

// bytes is the answer as it is sent. The number of the answer stands before the path.
func (p *replay) bytes(method, target string) []byte {
	a := p.answers[strings.Split(target, "/")[1]]
	var out strings.Builder
	fmt.Fprintf(&out, "HTTP/1.1 %d %s\r\n", a.Status, http.StatusText(a.Status))
	for name, value := range a.Headers {
		for one := range strings.SplitSeq(value, " | ") {
			fmt.Fprintf(&out, "%s: %s\r\n", name, one)
		}
	}
	for _, cookie := range a.Cookies {
		fmt.Fprintf(&out, "Set-Cookie: %s\r\n", cookie)
	}
	out.WriteString("Connection: close\r\n\r\n")
	if method != "HEAD" {
		out.WriteString(a.Body)
	}
	return []byte(out.String())
}

// TestCompareFindsWhatIsListed replays the recorded answers of ingress-nginx as one
// controller, with Sluice as the other: what `sluice compare` finds is what the tests of
// this package find in statuses, headers and cookies, which is what differences_test.go lists.
func TestCompareFindsWhatIsListed(t *testing.T) {
	t.Parallel()
	best, err := kit.BestNginx()
	if err != nil {
		t.Fatal(err)
	}
	var all []replayed
	scenarios := recorded.Groups(t, recorded.Read(t))[recorded.Usual]
	files, worlds := recorded.Files(t, scenarios)
	for _, s := range scenarios {
		all = append(all, replayable(t, worlds[s.Name])...)
	}
	objects := snapshot.Objects{}
	for name, content := range files {
		read, _, err := decode.FromYAML(name, []byte(content))
		if err != nil {
			t.Fatal(err)
		}
		objects.Append(read)
	}
	server := recorded.Start(t, best.Root, files, nil)
	core := compare.NewCore(objects, translate.Options{
		ManifestMode: true, IngressClasses: []string{"nginx"}, ControllerClass: "k8s.io/ingress-nginx", AnnotationsPrefix: "nginx.ingress.kubernetes.io", HealthPath: "/healthz",
	})
	results := replayAll(t, server, all)
	found := 0
	for i, q := range all {
		visible := visibleDifferences(t, server, q)
		differs := slices.ContainsFunc(results[i].Differences, counts)
		_, listed := intended[q.question]
		switch {
		case differs && !listed:
			t.Errorf("%s: compare finds %v, and no difference is listed", q.question, results[i].Differences)
		case differs != (len(visible) > 0):
			t.Errorf("%s: compare finds %v, and the answers differ in %v", q.question, results[i].Differences, visible)
		case differs:
			found++
		}
	}
	if found < 5 || len(all) < 100 {
		t.Errorf("%d requests, of which %d differ, show little", len(all), found)
	}
	report := compare.NewReport(core, results, compare.Ignore{"Certificate", "server-header"})
	if !slices.ContainsFunc(report.Causes, func(c *compare.Cause) bool { return c.Known != nil && c.Known.Case == "path-prefix-slash" }) {
		t.Error("path-prefix-slash is not recognised")
	}
	var text strings.Builder
	_ = report.WriteText(&text)
	t.Logf("%s", &text)
}

// counts leaves out what the records do not have.
func counts(d compare.Difference) bool {
	return d.Kind != compare.Cert && d.Place != compare.Place{Kind: compare.Header, Name: "Server"}
}

// replayAll asks the records and Sluice.
func replayAll(t *testing.T, server *recorded.Sluice, all []replayed) []compare.Result {
	t.Helper()
	pair := recorded.Sign(t, nil, &x509.Certificate{Subject: pkix.Name{CommonName: "replay"}})
	records := &replay{certificate: pair.TLS(), answers: map[string]recorded.Answer{}}
	asker := &client.Client{Timeout: kit.RequestPatience, Dialer: net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}}
	addresses := map[string][2]string{}
	for scheme, port := range map[string]int{"http": server.HTTP, "https": server.HTTPS} {
		addresses[scheme] = [2]string{fmt.Sprintf("127.0.0.1:%d", records.serve(t, scheme)), fmt.Sprintf("127.0.0.1:%d", port)}
	}
	for i, q := range all {
		records.answers[fmt.Sprint(i)] = q.want
	}
	rules := &compare.Rules{Ports: [2]compare.Ports{1: {HTTP: server.HTTP, HTTPS: server.HTTPS}}}
	var results []compare.Result
	for i, q := range all {
		ofRecords := q.request
		ofRecords.Target = fmt.Sprintf("/%d%s", i, q.request.Target)
		answers := [2][]compare.Answer{
			{asker.Ask(t.Context(), addresses[q.request.Scheme][0], ofRecords)},
			{asker.Ask(t.Context(), addresses[q.request.Scheme][1], q.request)},
		}
		results = append(results, compare.Compare(q.request, answers, rules))
	}
	return results
}

// visibleDifferences are those that a client sees, by the comparison of this package.
func visibleDifferences(t *testing.T, server *recorded.Sluice, q replayed) []string {
	q.world.In(t)
	found := q.world.Compare(server, q.index, recorded.ReadRecord(t, q.world.Name))
	return slices.DeleteFunc(found, func(difference string) bool {
		return !slices.ContainsFunc([]string{"/status", "/headers/", "/cookies"}, func(place string) bool { return strings.HasPrefix(difference, place) })
	})
}
