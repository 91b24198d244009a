package recorded

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Answer is what is known of a request in the end, in the form of the records.
type Answer struct {
	Req     string            `json:"req"`
	Status  int               `json:"status,omitempty"`
	Proto   string            `json:"proto,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Cookies []string          `json:"cookies,omitempty"`
	Body    string            `json:"body,omitempty"`
	BodyLen int               `json:"body_len,omitempty"`
	Cert    string            `json:"cert,omitempty"`
	TLS     string            `json:"tls,omitempty"`
	// Trailers are those behind the body.
	Trailers map[string]string `json:"trailers,omitempty"`
	Hits     []Hit             `json:"hits,omitempty"`
	// Dist counts "STATUS BACKEND" where a request was repeated.
	Dist   map[string]int `json:"dist,omitempty"`
	Repeat int            `json:"repeat,omitempty"`
	Tol    float64        `json:"tol,omitempty"`
	Err    string         `json:"error,omitempty"`
}

// Ask sends a request, as often as it wants to be repeated. want is the recorded
// answer.
func (w *World) Ask(s *Sluice, i int, want Answer) Answer {
	var first Answer
	r := &w.Requests[i]
	dist := map[string]int{}
	for n := range max(r.Repeat, 1) {
		id := fmt.Sprintf("%d-%d", i, n)
		e := s.send(w.NewCall(r, id))
		if r.WaitHits {
			w.pods.await(w.t, id, len(want.Hits))
		}
		a := w.answer(s, e, w.pods.take(id))
		w.keepCookies(r.Session, e)
		if n == 0 {
			first = a
		}
		dist[w.outcome(r, a, e)]++
	}
	if r.Rel {
		for k := range first.Hits {
			first.Hits[k].By = w.relative(first.Hits[k].By)
		}
		sort.SliceStable(first.Hits, func(i, j int) bool { return first.Hits[i].By < first.Hits[j].By })
	}
	if r.Repeat > 1 {
		first.Dist, first.Repeat, first.Tol = dist, r.Repeat, r.Tol
		first.withoutDetails()
	}
	first.Req = r.label(i)
	return first.only(r.Only)
}

// anyPods names pods by how often they answered. A hash of their addresses, which are others
// here, chooses others; test/lua has the choices at the recorded ones.
func (a Answer) anyPods() Answer {
	outcomes := slices.SortedFunc(maps.Keys(a.Dist), func(x, y string) int { return cmp.Or(cmp.Compare(a.Dist[y], a.Dist[x]), strings.Compare(x, y)) })
	dist := map[string]int{}
	for i, outcome := range outcomes {
		status, by, _ := strings.Cut(outcome, " ")
		if by != "" {
			status += fmt.Sprintf(" P%d", i+1)
		}
		dist[status] = a.Dist[outcome]
	}
	a.Dist, a.Hits = dist, slices.Clone(a.Hits)
	for i := range a.Hits {
		a.Hits[i].By = "a pod"
	}
	return a
}

// withoutDetails drops what need not be the same for all repetitions.
func (a *Answer) withoutDetails() {
	if len(a.Dist) > 1 {
		a.Status, a.Headers, a.Cookies, a.Body, a.Hits, a.Err = 0, nil, nil, "", nil, ""
	}
	for k := range a.Hits {
		a.Hits[k].Headers = nil
	}
}

// only keeps the parts that were recorded; none named are all.
func (a Answer) only(parts []string) Answer {
	if len(parts) == 0 {
		return a
	}
	kept := Answer{Req: a.Req, Repeat: a.Repeat, Tol: a.Tol}
	for _, part := range parts {
		switch part {
		case "status":
			kept.Status = a.Status
		case "headers":
			kept.Headers = a.Headers
		case "cookies":
			kept.Cookies = a.Cookies
		case "hits":
			kept.Hits = a.Hits
		case "dist":
			kept.Dist = a.Dist
		}
	}
	return kept
}

// outcome is the key under which an answer is counted.
func (w *World) outcome(r *Request, a Answer, e exchange) string {
	by := ""
	if address, ok := strings.CutPrefix(unframed(e.body), podMark); ok {
		by = w.podName(address)
	} else if e.line != "" {
		address, _, _ := strings.Cut(e.line, " ")
		by = w.podName(address)
	} else if len(a.Hits) > 0 {
		by = a.Hits[len(a.Hits)-1].By
	}
	if r.Rel && by != "" {
		by = w.relative(by)
	}
	return strings.TrimSpace(cmp.Or(a.Err, fmt.Sprint(a.Status)) + " " + by)
}

// relative names backends P1, P2 ... in the order in which they appear.
func (w *World) relative(by string) string {
	if !slices.Contains(w.seen, by) {
		w.seen = append(w.seen, by)
	}
	return fmt.Sprintf("P%d", slices.Index(w.seen, by)+1)
}

// answer gives an exchange the form of the records.
func (w *World) answer(s *Sluice, e exchange, hits []Hit) Answer {
	a := Answer{Err: e.fault, Cert: e.presented, TLS: e.version, Hits: w.recorded(s, hits)}
	if e.line != "" {
		a.Body = w.said(e.line)
	}
	if e.response == nil {
		return a
	}
	a.Status, a.Proto, a.Headers = e.response.StatusCode, e.response.Proto, map[string]string{}
	for name, values := range e.response.Header {
		if !unrecorded[name] {
			a.Headers[name] = w.normal(s, name, strings.Join(values, " | "))
		}
	}
	for name, values := range e.response.Trailer {
		if a.Trailers == nil {
			a.Trailers = map[string]string{}
		}
		a.Trailers[name] = strings.Join(values, " | ")
	}
	for _, cookie := range e.response.Header.Values("Set-Cookie") {
		a.Cookies = append(a.Cookies, normalCookie(cookie, e.response.Header.Get("Date")))
	}
	switch {
	case a.Status == 101:
		address, line, _ := strings.Cut(strings.TrimSpace(e.body), " ")
		a.Body = w.podName(address) + " " + line
	case strings.HasPrefix(unframed(e.body), podMark):
		a.Body = "echo"
	case strings.HasPrefix(e.body, "xxxxxxxx"):
		a.Body, a.BodyLen = "filler", len(e.body)
	default:
		a.Body = strings.ReplaceAll(e.body, "\r\n", "\n")
	}
	return a
}

// unframed gives the message of gRPC in a body, or the body. Five bytes are in front: that
// it is not compressed, and its length.
func unframed(body string) string {
	if strings.HasPrefix(body, "\x00\x00\x00\x00") && len(body) > 5 {
		return body[5:]
	}
	return body
}

// said gives the line of a TCP service the form of the records.
func (w *World) said(line string) string {
	words := strings.Fields(strings.ReplaceAll(line, "127.0.0.", "10.255.0."))
	words[0] = w.podName(words[0])
	if len(words) == 7 && words[1] == "PROXY" {
		words[5] = "<port>"
		for recorded, here := range w.listening {
			if words[6] == strconv.Itoa(here) {
				words[6] = strconv.Itoa(recorded)
			}
		}
	}
	return strings.Join(words, " ")
}

// unrecorded are headers of answers that are not compared. Server is one of
// them because ingress-nginx has a module that removes it.
var unrecorded = map[string]bool{
	"Date": true, "Connection": true, "Keep-Alive": true, "Content-Length": true, "Set-Cookie": true,
	"Transfer-Encoding": true, "Trailer": true, "Server": true,
}

// hops begins the header that counts how often a request passed nginx, which
// ingress-nginx does not have; docs/differences.md tells of it.
const hops = "X-Hops-"

// recorded gives hits the form of the records, in their order.
func (w *World) recorded(s *Sluice, hits []Hit) []Hit {
	for i := range hits {
		h := &hits[i]
		h.By, h.Headers = w.podName(h.address), map[string]string{}
		if w.own != "" {
			h.Host = strings.ReplaceAll(h.Host, w.own, h.address)
		}
		for name, values := range h.headers {
			if name != trace && !strings.HasPrefix(name, "X-Echo-") && !strings.HasPrefix(name, hops) {
				h.Headers[name] = w.normal(s, name, strings.Join(values, " | "))
			}
		}
	}
	sort.SliceStable(hits, func(i, j int) bool { return hits[i].By+" "+hits[i].URI < hits[j].By+" "+hits[j].URI })
	return hits
}

var (
	requestID  = regexp.MustCompile(`^[0-9a-f]{32}$`)
	clientHere = regexp.MustCompile(`\b127\.0\.0\.([1-4])\b`)
)

// normal replaces what belongs to this run and this machine by what was recorded.
func (w *World) normal(s *Sluice, name, value string) string {
	switch {
	case requestID.MatchString(value):
		return "<hex32>"
	case strings.HasPrefix(value, "-----BEGIN%20CERTIFICATE-----"):
		return "<pem>"
	case len(value) > 600:
		return fmt.Sprintf("<%d characters>", len(value))
	case name == "X-Forwarded-Port" && value == fmt.Sprint(s.HTTP):
		return "80"
	case name == "X-Forwarded-Port" && value == fmt.Sprint(s.HTTPS):
		return "443"
	}
	value = hashedIn.ReplaceAllString(strings.ReplaceAll(value, w.Namespace, "<ns>"), "<hash>")
	return clientHere.ReplaceAllString(value, "10.255.0.$1")
}

// Differences lists where two answers differ, as "/PLACE: want X, got Y"; where
// the status does, what follows from it is left out.
func Differences(want, got Answer) []string {
	var found []string
	if !closeEnough(want, got) {
		found = append(found, fmt.Sprintf("/dist: want %v, got %v", want.Dist, got.Dist))
	}
	want.Dist, got.Dist = nil, nil
	delete(want.Headers, "Server")
	for _, h := range want.Hits {
		if h.Headers["Connection"] == "close" {
			delete(h.Headers, "Connection") // Sluice keeps connections to servers that authenticate
		}
	}
	if want.Status != got.Status {
		return append(found, fmt.Sprintf("/status: want %d by %q, got %d by %q", want.Status, by(want), got.Status, by(got)))
	}
	a, b := places(want), places(got)
	for place := range b {
		if _, ok := a[place]; !ok {
			a[place] = nil
		}
	}
	for _, place := range slices.Sorted(maps.Keys(a)) {
		if a[place] != b[place] {
			found = append(found, fmt.Sprintf("%s: want %s, got %s", place, show(a[place]), show(b[place])))
		}
	}
	return found
}

// by names the backends that a request came to.
func by(a Answer) []string {
	var names []string
	for _, h := range a.Hits {
		names = append(names, h.By)
	}
	return names
}

func show(value any) string {
	if value == nil {
		return "nothing"
	}
	return fmt.Sprintf("%q", fmt.Sprint(value))
}

// places flattens an answer into values by their place, such as
// /hits/0/headers/X-Scheme.
func places(a Answer) map[string]any {
	text, _ := json.Marshal(a)
	var tree any
	_ = json.Unmarshal(text, &tree)
	found := map[string]any{}
	var walk func(place string, value any)
	walk = func(place string, value any) {
		switch value := value.(type) {
		case map[string]any:
			for key, inner := range value {
				walk(place+"/"+key, inner)
			}
		case []any:
			for i, inner := range value {
				walk(fmt.Sprintf("%s/%d", place, i), inner)
			}
		default:
			found[place] = value
		}
	}
	walk("", tree)
	return found
}

// closeEnough compares counts: each may be off by the recorded tolerance, or
// by one where several backends answered.
func closeEnough(want, got Answer) bool {
	slack := want.Tol * float64(want.Repeat)
	if len(want.Dist) > 1 && want.Tol == 0 {
		slack = 1
	}
	outcomes := maps.Clone(want.Dist)
	if outcomes == nil {
		outcomes = map[string]int{}
	}
	maps.Copy(outcomes, got.Dist)
	for outcome := range outcomes {
		if math.Abs(float64(want.Dist[outcome]-got.Dist[outcome])) > slack {
			return false
		}
	}
	return true
}

// Compare asks request i of the Sluice and tells where the answer is not the
// recorded one.
func (w *World) Compare(s *Sluice, i int, r *Record) []string {
	want := r.Answers[i]
	got := w.Ask(s, i, want)
	if slices.Contains(w.Features, "hash") {
		want, got = want.anyPods(), got.anyPods()
	}
	return r.stable(i, Differences(want, got))
}
