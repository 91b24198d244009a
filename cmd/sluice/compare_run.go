package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"sluice/internal/compare"
	"sluice/internal/compare/client"
	"sluice/internal/model"
)

// controllers returns the addresses of both controllers. It leaves out a scheme by which one
// of them cannot be asked.
func (f *compareFlags) controllers() (both [2]compare.Addresses, err error) {
	for i, given := range []struct{ flag, url, https string }{{"a", f.a, f.aHTTPS}, {"b", f.b, f.bHTTPS}} {
		if both[i], err = addressesOf(given.flag, given.url); err != nil {
			return both, err
		}
		if given.https == "" {
			continue
		}
		host, port, err := net.SplitHostPort(strings.TrimPrefix(given.https, "https://"))
		if err != nil || host == "" || !isPort(port) {
			return both, fmt.Errorf("--%s-https: want HOST:PORT (got %q)", given.flag, given.https)
		}
		both[i].HTTPS = net.JoinHostPort(host, port)
	}
	if both[0] == both[1] {
		return both, errors.New("--a and --b: want two controllers (got the same address twice)")
	}
	return both, nil
}

func isPort(text string) bool {
	port, err := strconv.Atoi(text)
	return err == nil && port > 0 && port <= 65535
}

// addressesOf reads the URL of a controller. Without a port, it has both usual ones.
func addressesOf(flag, given string) (compare.Addresses, error) {
	wrong := fmt.Errorf("--%s: want http://HOST[:PORT] or https://HOST[:PORT] (got %q)", flag, given)
	text := given
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || strings.Trim(u.Path, "/")+u.RawQuery+u.Fragment != "" || u.User != nil {
		return compare.Addresses{}, wrong
	}
	usual := map[string]string{"http": "80", "https": "443"}
	switch port := u.Port(); {
	case port == "" || port == usual[u.Scheme]:
		return compare.Addresses{HTTP: net.JoinHostPort(u.Hostname(), "80"), HTTPS: net.JoinHostPort(u.Hostname(), "443")}, nil
	case !isPort(port):
		return compare.Addresses{}, wrong
	case u.Scheme == "http":
		return compare.Addresses{HTTP: u.Host}, nil
	}
	return compare.Addresses{HTTPS: u.Host}, nil
}

// askable returns the schemes by which both controllers can be asked, with a note for one that
// is left out.
func (f *compareFlags) askable(both [2]compare.Addresses) (schemes, notes []string, err error) {
	for _, scheme := range f.schemes {
		switch {
		case both[0].Of(scheme) != "" && both[1].Of(scheme) != "":
			schemes = append(schemes, scheme)
		case scheme == "https":
			notes = append(notes, "HTTPS is not compared: want --a-https and --b-https")
		default:
			notes = append(notes, "HTTP is not compared: want http:// URLs in --a and --b")
		}
	}
	if len(schemes) == 0 {
		return nil, nil, errors.New("--a and --b: want addresses of both for the same scheme: " + strings.Join(notes, "; "))
	}
	return schemes, notes, nil
}

// compared asks both controllers, and returns the report.
func (f *compareFlags) compared(ctx context.Context, both [2]compare.Addresses, diagnostics io.Writer) (*compare.Report, error) {
	schemes, notes, err := f.askable(both)
	if err != nil {
		return nil, err
	}
	core, err := f.core(ctx, diagnostics)
	if err != nil {
		return nil, err
	}
	requests, more, err := f.requests(core, schemes)
	if err != nil {
		return nil, err
	}
	notes = append(notes, more...)
	for _, note := range notes {
		fmt.Fprintln(diagnostics, note)
	}
	f.warn(diagnostics)
	results, err := f.ask(ctx, both, requests, diagnostics)
	if err != nil {
		return nil, err
	}
	report := compare.NewReport(core, results, f.ignored)
	report.Notes = notes
	report.Address(both[0], both[1])
	return report, nil
}

// core reads the Ingresses; there are none with an access log alone.
func (f *compareFlags) core(ctx context.Context, diagnostics io.Writer) (*compare.Core, error) {
	in, err := f.userCluster.load(ctx, &f.inputFlags)
	if err != nil {
		return nil, err
	}
	if f.output == "text" && (f.cluster || len(f.files) > 0) {
		in.say(diagnostics)
	}
	if err := in.sayUnread(diagnostics); err != nil {
		return nil, err
	}
	core := compare.NewCore(in.Objects.Watched(in.watch), in.options)
	if f.log.file == "" && !f.allowEmpty {
		if err := wantServed(core.Snapshot, core.Options); err != nil {
			return nil, err
		}
	}
	if f.cluster {
		core.ForgetSecrets()
	}
	return core, nil
}

// requests makes the requests, with notes about those that are left out.
func (f *compareFlags) requests(core *compare.Core, schemes []string) (requests []compare.Request, notes []string, err error) {
	if f.log.file == "" {
		further := slices.DeleteFunc(slices.Clone(f.methods), func(method string) bool { return method == "GET" })
		requests = compare.FromIngresses(core, compare.Asked{Schemes: schemes, Methods: further, Seed: f.seed})
	} else if requests, notes, err = f.logged(core, schemes); err != nil {
		return nil, nil, err
	}
	if f.limit > 0 && len(requests) > f.limit {
		notes = append(notes, model.Counted(len(requests)-f.limit, "request is", "requests are")+" left out by --limit")
		requests = requests[:f.limit]
	}
	if len(requests) == 0 {
		return nil, nil, errors.New("there is no request to ask: " + strings.Join(append(notes, "want an access log with requests"), "; "))
	}
	return requests, notes, nil
}

// logged reads the access log.
func (f *compareFlags) logged(core *compare.Core, schemes []string) ([]compare.Request, []string, error) {
	fields := maps.Clone(compare.UsualFields)
	for _, text := range f.log.fields {
		field, name, _ := strings.Cut(text, "=")
		if fields[field] == "" || name == "" {
			return nil, nil, fmt.Errorf("--access-log-fields: want FIELD=NAME with the FIELD %s (got %q)", model.OneOf(slices.Sorted(maps.Keys(compare.UsualFields))), text)
		}
		fields[field] = name
	}
	in := os.Stdin
	if f.log.file != "-" {
		opened, err := os.Open(f.log.file)
		if err != nil {
			return nil, nil, fmt.Errorf("--access-log: %w", err)
		}
		defer opened.Close()
		in = opened
	}
	return compare.FromAccessLog(in, core, compare.Log{Fields: fields, Host: f.log.host, Methods: f.methods, Schemes: schemes})
}

// warn warns of methods that may change data.
func (f *compareFlags) warn(diagnostics io.Writer) {
	changing := slices.DeleteFunc(slices.Clone(f.methods), func(method string) bool {
		return method == "GET" || method == "HEAD" || method == "OPTIONS"
	})
	if len(changing) > 0 {
		fmt.Fprintf(diagnostics, "warning: %s may change data: both controllers pass each such request to the backends, up to %d times\n", strings.Join(changing, ", "), f.tries)
	}
}

// ask asks all requests, and shows the progress on a terminal.
func (f *compareFlags) ask(ctx context.Context, both [2]compare.Addresses, requests []compare.Request, diagnostics io.Writer) ([]compare.Result, error) {
	bar := &progress{out: diagnostics, all: len(requests), began: time.Now(), shown: isTerminal(diagnostics)}
	run := &client.Run{
		Client: client.Client{Timeout: f.timeout, Body: f.body}, Addresses: both, Rate: f.rate, Concurrency: f.concurrency, Tries: f.tries, Progress: bar.update,
		Rules: compare.Rules{Headers: f.headers, BackendHeader: f.backendHeader, Body: f.body, Ports: [2]compare.Ports{portsOf(both[0]), portsOf(both[1])}},
	}
	if err := f.reach(ctx, run, requests); err != nil {
		return nil, err
	}
	defer bar.end()
	return run.All(ctx, requests)
}

// reach checks that both controllers take connections.
func (f *compareFlags) reach(ctx context.Context, run *client.Run, requests []compare.Request) error {
	for _, scheme := range []string{"http", "https"} {
		if !slices.ContainsFunc(requests, func(r compare.Request) bool { return r.Scheme == scheme }) {
			continue
		}
		for side, flag := range []string{"--a", "--b"} {
			err := run.Reach(ctx, run.Addresses[side].Of(scheme))
			switch {
			case err != nil && scheme == "https":
				return fmt.Errorf("%s: %w; want %s-https with its address for HTTPS, or --schemes http", flag, err, flag)
			case err != nil:
				return fmt.Errorf("%s: %w", flag, err)
			}
		}
	}
	return nil
}

// portsOf returns the ports of addresses.
func portsOf(a compare.Addresses) (ports compare.Ports) {
	for address, into := range map[string]*int{a.HTTP: &ports.HTTP, a.HTTPS: &ports.HTTPS} {
		if _, port, err := net.SplitHostPort(address); err == nil {
			*into, _ = strconv.Atoi(port)
		}
	}
	return ports
}

// progress is a line on a terminal that is written anew.
type progress struct {
	mu    sync.Mutex
	out   io.Writer
	all   int
	began time.Time
	last  time.Time
	shown bool
}

func (p *progress) update(done, differing int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); p.shown && (now.Sub(p.last) > 200*time.Millisecond || done == p.all) {
		p.last = now
		left := time.Duration(float64(now.Sub(p.began)) / float64(done) * float64(p.all-done)).Round(time.Second)
		fmt.Fprintf(p.out, "\r\x1b[K%d of %d requests, %d differ, %s left", done, p.all, differing, left)
	}
}

// end removes the line.
func (p *progress) end() {
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
