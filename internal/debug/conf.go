package debug

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"sluice/internal/debugapi"
	"sluice/internal/model"
	"sluice/internal/render"
)

// catchAll is the host of the catch-all server in parameters.
const catchAll = "*"

// conf answers with nginx.conf or some of its lines, unchanged: render lets no control
// character of users pass.
func (q *question) conf() (body, error) {
	format, err := q.values.format()
	if err != nil {
		return nil, err
	}
	selected, err := q.selection()
	if err != nil {
		return nil, err
	}
	some, err := q.values.part(format)
	if err != nil {
		return nil, err
	}
	file := q.state.Confirmed.File
	if format == debugapi.JSON {
		return confJSON{file, both(selected, some.has), some}, nil
	}
	return textBody(func(w io.Writer) error {
		if selected == nil {
			_, err := file.WriteTo(w)
			return err
		}
		_, err := file.WriteSelected(w, selected)
		return err
	}), nil
}

// selection returns a function that selects lines, nil for all. It selects at least one.
func (q *question) selection() (func(render.Line) bool, error) {
	host, ofHost, err := q.values.host()
	if err != nil {
		return nil, err
	}
	ingress, ofIngress, err := q.values.ingress()
	if err != nil {
		return nil, err
	}
	if !ofHost && !ofIngress {
		return nil, nil
	}
	server := host
	if ofHost {
		if server, err = q.serverHost(host); err != nil {
			return nil, err
		}
	}
	selected := func(l render.Line) bool {
		inHost := l.Host == server && (server != "" || l.InServer)
		return (!ofHost || inHost) && (!ofIngress || l.Object == ingress)
	}
	for line := range q.state.Confirmed.File.Lines() {
		if selected(line) {
			return selected, nil
		}
	}
	if ofIngress {
		return nil, q.noLines(ingress, host)
	}
	return nil, notFound("host: nginx.conf has no line for %s: it could not be printed, and a Problem gives the reason", model.Quoted(host))
}

// serverHost returns the host of the server with a host or an alias; "" for "*", the
// catch-all server.
func (q *question) serverHost(host string) (string, error) {
	if host == catchAll {
		return "", nil
	}
	has := func(s *model.Server) bool {
		return strings.EqualFold(s.Host, host) || slices.ContainsFunc(s.Aliases, func(alias string) bool { return strings.EqualFold(alias, host) })
	}
	servers := q.state.Confirmed.Config.Static.Servers
	if at := slices.IndexFunc(servers, has); at >= 0 {
		return servers[at].Host, nil
	}
	return "", notFound("host: no server has the host or the alias %s%s", model.Quoted(host), q.meant(host))
}

// meant names the wildcard host that takes a name without a server, if there is one.
func (q *question) meant(host string) string {
	_, parent, _ := strings.Cut(host, ".")
	wildcard := "*." + parent
	if slices.ContainsFunc(q.state.Confirmed.Config.Static.Servers, func(s *model.Server) bool { return s.Host == wildcard }) {
		return fmt.Sprintf("; its requests go to that of %s", wildcard)
	}
	return ""
}

// noLines returns the reason why an Ingress has no lines in nginx.conf.
func (q *question) noLines(ingress model.ObjectRef, host string) error {
	switch {
	case q.state.Snapshot.IngressOf(ingress) == nil:
		return q.noIngress(ingress)
	case host != "":
		return notFound("ingress: %s has no line in the server of %s", ingress, model.Quoted(host))
	}
	return notFound("ingress: %s has no line in nginx.conf: it is of another class, or a Problem gives the reason", ingress)
}

func (q *question) noIngress(ingress model.ObjectRef) error {
	return notFound("ingress: there is no %s in the watched namespaces", ingress)
}

// confJSON is a debugapi.Conf that is written line by line, because one value for a large
// file would need several times its size.
type confJSON struct {
	file     *render.File
	selected func(render.Line) bool
	part
}

func (confJSON) contentType() string { return jsonBody{}.contentType() }

func (c confJSON) write(w io.Writer) error {
	begin := fmt.Sprintf("{\n  \"hash\": %q,\n  \"total\": %d,\n  \"matched\": %d,\n  \"lines\": [", c.file.Hash(), c.file.LineCount(), c.matched())
	return writeElements(w, begin, c.lines, jsonLayout{"\n    ", "", "\n  ]\n}\n"})
}

// matched is the number of selected lines.
func (c confJSON) matched() int {
	if c.selected == nil {
		return c.file.LineCount()
	}
	n := 0
	for line := range c.file.Lines() {
		if c.selected(line) {
			n++
		}
	}
	return n
}

// lines yields the part of the selected lines.
func (c confJSON) lines(yield func(debugapi.Line) bool) {
	n := 0
	for line := range c.file.Lines() {
		if c.selected != nil && !c.selected(line) {
			continue
		}
		if n++; n <= c.offset {
			continue
		}
		if n > c.offset+c.limit || !yield(viewLine(line)) {
			return
		}
	}
}

func viewLine(l render.Line) debugapi.Line {
	tabs := strings.Split(strings.TrimSuffix(string(l.Text), "\n"), "\t")
	return debugapi.Line{
		Number: l.Number, Text: strings.Join(shownAll(tabs), "\t"),
		Object:    model.ObjectRef{Kind: shown(l.Object.Kind), Namespace: shown(l.Object.Namespace), Name: shown(l.Object.Name)},
		Behaviour: l.Behaviour, Host: shown(l.Host), Stream: l.Stream,
	}
}
