package debug

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"sluice/internal/debugapi"
	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/render"
	"sluice/internal/snapshot"
)

// catchAll is the host of the catch-all server where a host is asked for.
const catchAll = "*"

// conf answers nginx.conf or some of its lines. It is told as it is written: of
// what users wrote, render lets no control character pass.
func (q *question) conf() (body, error) {
	format, err := q.values.format()
	if err != nil {
		return nil, err
	}
	selected, err := q.selection()
	if err != nil {
		return nil, err
	}
	file := q.state.Confirmed.File
	if format == debugapi.JSON {
		return confJSON{file, selected}, nil
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

// selection says which lines are asked for, nil for all; there is at least one.
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
	return nil, notFound("host: nginx.conf has nothing of %s: it could not be printed, and a problem says why", keys.Quote(host))
}

// serverHost gives the host of the server that has a host or an alias; "*" means
// the catch-all server, whose host is empty.
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
	return "", notFound("host: no server has the host or the alias %s%s", keys.Quote(host), q.meant(host))
}

// meant says which wildcard host takes a name that no server has, if one does.
func (q *question) meant(host string) string {
	_, parent, _ := strings.Cut(host, ".")
	wildcard := "*." + parent
	if slices.ContainsFunc(q.state.Confirmed.Config.Static.Servers, func(s *model.Server) bool { return s.Host == wildcard }) {
		return fmt.Sprintf("; its requests go to that of %s", wildcard)
	}
	return ""
}

// noLines says why nothing in nginx.conf is of an Ingress.
func (q *question) noLines(ingress model.ObjectRef, host string) error {
	name := snapshot.Name{Namespace: ingress.Namespace, Name: ingress.Name}
	switch {
	case q.state.Snapshot.Ingress(name) == nil:
		return q.noIngress(ingress)
	case host != "":
		return notFound("ingress: %s wrote nothing in the server of %s", ingress, keys.Quote(host))
	}
	return notFound("ingress: %s wrote nothing in nginx.conf: it is of another class, or a problem says why", ingress)
}

// noIngress says that there is no such Ingress.
func (q *question) noIngress(ingress model.ObjectRef) error {
	return notFound("ingress: there is no %s among those that are looked at", ingress)
}

// confJSON is a debugapi.Conf that is written line by line: as one value, that of a
// large file would take several times its size.
type confJSON struct {
	file     *render.File
	selected func(render.Line) bool
}

func (confJSON) contentType() string { return jsonBody{}.contentType() }

func (c confJSON) write(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "{\n  \"hash\": %q,\n  \"total\": %d,\n  \"lines\": [", c.file.Hash(), c.file.LineCount()); err != nil {
		return err
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	separator := "\n    "
	for line := range c.file.Lines() {
		if c.selected != nil && !c.selected(line) {
			continue
		}
		out.Reset()
		if err := encoder.Encode(viewLine(line)); err != nil {
			return err
		}
		if _, err := io.WriteString(w, separator+strings.TrimSuffix(out.String(), "\n")); err != nil {
			return err
		}
		separator = ",\n    "
	}
	_, err := io.WriteString(w, "\n  ]\n}\n")
	return err
}

func viewLine(l render.Line) debugapi.Line {
	tabs := strings.Split(strings.TrimSuffix(string(l.Text), "\n"), "\t")
	return debugapi.Line{
		Number: l.Number, Text: strings.Join(shownAll(tabs), "\t"),
		Object:    model.ObjectRef{Kind: shown(l.Object.Kind), Namespace: shown(l.Object.Namespace), Name: shown(l.Object.Name)},
		Behaviour: l.Behaviour, Host: shown(l.Host), Stream: l.Stream,
	}
}
