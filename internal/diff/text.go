package diff

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"sluice/internal/model"
)

// signs are the beginnings of lines.
var signs = map[Kind]string{Gained: "+", Lost: "-", Moved: ">", Changed: "~"}

// WriteText prints the result for a terminal. A result without changes prints one line.
func (r *Result) WriteText(to io.Writer) error {
	out := bufio.NewWriter(to)
	section := func(title string, count int) {
		if count > 0 {
			fmt.Fprintf(out, "%s:\n", title)
		}
	}
	section("routes", len(r.Routes))
	for _, route := range r.Routes {
		fmt.Fprintf(out, "  %s %s\n", signs[route.Change], route.line())
		for _, e := range route.Effects {
			fmt.Fprintf(out, "      %s\n", e)
		}
	}
	section("requests that go elsewhere", len(r.Requests))
	for _, q := range r.Requests {
		fmt.Fprintf(out, "  > %s: %s -> %s\n", q, q.Old, q.New)
	}
	section("certificates", len(r.Certificates))
	for _, c := range r.Certificates {
		fmt.Fprintf(out, "  %s %s: %s\n", signs[c.Change], c.Host, arrow(c.Old.String(), c.New.String()))
	}
	section("endpoints", len(r.Endpoints))
	for _, e := range r.Endpoints {
		fmt.Fprintf(out, "  ~ %s\n", e)
	}
	section("new problems", len(r.Gained))
	for _, p := range r.Gained {
		fmt.Fprintf(out, "  + %s\n", p)
	}
	section("mended problems", len(r.Mended))
	for _, p := range r.Mended {
		fmt.Fprintf(out, "  - %s\n", p)
	}
	section("not read", len(r.Notes))
	for _, note := range r.Notes {
		fmt.Fprintf(out, "  ! %s\n", note)
	}
	section("nginx.conf", len(r.Conf))
	for _, l := range r.Conf {
		fmt.Fprintf(out, "  %s:\n", l.title())
		for line := range strings.Lines(string(l.Unified)) {
			fmt.Fprintf(out, "    %s\n", strings.TrimRight(line, "\n"))
		}
	}
	fmt.Fprintln(out, r.Summary())
	return out.Flush()
}

// Summary returns the counts in one line.
func (r *Result) Summary() string {
	if !r.Changed {
		return "nothing changes"
	}
	parts := []string{}
	for _, kind := range []Kind{Gained, Lost, Moved, Changed} {
		n := 0
		for _, route := range r.Routes {
			if route.Change == kind {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, model.Counted(n, "route ", "routes ")+string(kind))
		}
	}
	for _, c := range []struct {
		n         int
		one, many string
	}{
		{len(r.Requests), "route takes requests of another", "routes take requests of others"},
		{len(r.Certificates), "certificate", "certificates"}, {len(r.Endpoints), "backend with other endpoints", "backends with other endpoints"},
		{len(r.Gained), "new problem", "new problems"}, {len(r.Mended), "mended problem", "mended problems"},
	} {
		if c.n > 0 {
			parts = append(parts, model.Counted(c.n, c.one, c.many))
		}
	}
	text := strings.Join(append(parts, r.reload()), "; ")
	if r.Unasked > 0 {
		text += fmt.Sprintf("; not all requests were tried of %s", model.Counted(r.Unasked, "host with many paths", "hosts with many paths"))
	}
	return text
}

func (r *Result) reload() string {
	if r.Reload {
		return "nginx reloads"
	}
	return "nginx does not reload"
}

// line returns the route as "shop.example/cart  shop/cart:80 -> shop/basket:80  Ingress shop/web".
func (r *Route) line() string {
	shown := cmp.Or(r.New, r.Old)
	old, now := "", shown.Backend
	if r.Old != nil && r.New != nil {
		old = r.Old.Backend
	}
	text := fmt.Sprintf("%s  %s  %s", r.where(), shown.Match, now)
	if r.Change == Moved {
		text = fmt.Sprintf("%s  %s  %s", r.where(), shown.Match, arrow(old, now))
	}
	if shown.Object != (model.ObjectRef{}) {
		text += "  " + shown.Object.String()
	}
	if r.Change == Gained && len(shown.Behaviours) > 0 {
		text += "  " + strings.Join(shown.Behaviours, ", ")
	}
	return text
}

// where returns "shop.example/cart", with the requests that the route is for.
func (r *Route) where() string {
	text := r.Host + r.Path
	if r.If != "" {
		text += " if " + r.If
	}
	return text
}

// arrow returns "old -> new", with "none" for an empty text.
func arrow(old, now string) string {
	return cmp.Or(old, "none") + " -> " + cmp.Or(now, "none")
}

// String returns "limits: limit-rps: none -> 5".
func (e Effect) String() string {
	name := e.Behaviour
	if e.Key != "" && e.Key != e.Behaviour {
		name += ": " + e.Key
	}
	if e.New == otherContent && e.Old == "" {
		return name + ": its content differs"
	}
	return name + ": " + arrow(e.Old, e.New)
}

// String returns "GET shop.example/cart", with the number of other examples.
func (q Request) String() string {
	text := q.Method + " " + q.Host + q.URI
	for _, h := range q.Headers {
		text += fmt.Sprintf(" (%s: %s)", h.Name, h.Value)
	}
	if q.Like > 1 {
		text += fmt.Sprintf(" and %d like it", q.Like-1)
	}
	return text
}

// String returns "shop/web:80 (Ingress shop/web /)".
func (t Taker) String() string {
	switch {
	case t.Outcome == "redirect":
		return "301 to the path with a / at its end"
	case t.none():
		return cmp.Or(t.Backend, string(t.Outcome))
	}
	text := fmt.Sprintf("%s (%s, path %s", cmp.Or(t.Backend, string(t.Outcome)), t.Object, t.Path)
	if t.If != "" {
		text += " if " + t.If
	}
	return text + ")"
}

// String returns the fingerprint, the names and the end of a certificate; "default" for nil.
func (p *Presented) String() string {
	if p == nil {
		return "the default certificate"
	}
	return fmt.Sprintf("%.16s… for %s until %s", p.SHA256, strings.Join(p.Names, ", "), p.NotAfter.Format(time.DateOnly))
}

// mostEndpoints limits the addresses that are shown of each kind.
const mostEndpoints = 5

func (e Endpoints) String() string {
	text := e.Backend + ":"
	for _, part := range []struct {
		sign string
		all  []string
	}{{"+", e.Gained}, {"-", e.Lost}} {
		for i, address := range part.all {
			if i == mostEndpoints {
				text += fmt.Sprintf(" and %s%d more", part.sign, len(part.all)-i)
				break
			}
			text += " " + part.sign + address
		}
	}
	return text
}

// title returns the owner of the lines and their server.
func (l *Lines) title() string {
	text := "Sluice"
	if l.Object != (model.ObjectRef{}) {
		text = l.Object.String()
	}
	if l.Host != "" {
		text += ", " + l.Host
	}
	return text
}
