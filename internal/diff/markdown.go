package diff

import (
	"fmt"
	"html"
	"io"
	"strings"
)

// mostMarkdown limits the length in bytes: forges take comments of 65,536 characters.
// mostTables limits what the tables have of it, so that some lines of nginx.conf fit.
const (
	mostMarkdown = 60_000
	mostTables   = 40_000
)

// mostCell limits a cell of a table.
const mostCell = 300

// WriteMarkdown prints the result for a pull request: tables, and the lines of nginx.conf
// in collapsed details. Names and values are code, so that none is read as Markdown or
// HTML. What has no room is counted.
func (r *Result) WriteMarkdown(to io.Writer) error {
	m := &markdown{}
	m.line("**" + r.Summary() + "**")
	m.table("Routes", []string{"", "route", "old", "new", "differs"}, len(r.Routes), func(i int) []string { return r.Routes[i].cells() })
	m.table("Requests that go elsewhere", []string{"request", "old", "new"}, len(r.Requests), func(i int) []string {
		q := r.Requests[i]
		return []string{code(q.String()), code(q.Old.String()), code(q.New.String())}
	})
	m.table("Certificates", []string{"", "host", "old", "new"}, len(r.Certificates), func(i int) []string {
		c := r.Certificates[i]
		return []string{string(c.Change), code(c.Host), code(c.Old.String()), code(c.New.String())}
	})
	m.table("Endpoints", []string{"backend"}, len(r.Endpoints), func(i int) []string { return []string{code(r.Endpoints[i].String())} })
	all := make([][]string, 0, len(r.Gained)+len(r.Mended))
	for _, p := range r.Gained {
		all = append(all, []string{"new", code(p.String())})
	}
	for _, p := range r.Mended {
		all = append(all, []string{"mended", code(p.String())})
	}
	m.table("Problems", []string{"", "problem"}, len(all), func(i int) []string { return all[i] })
	m.table("Not read", []string{"object"}, len(r.Notes), func(i int) []string { return []string{code(r.Notes[i])} })
	m.details(r.Conf)
	_, err := io.WriteString(to, m.String())
	return err
}

// markdown is the text so far.
type markdown struct{ strings.Builder }

func (m *markdown) line(text string) {
	m.WriteString(text)
	m.WriteByte('\n')
}

// table adds a table with its heading, unless it has no row.
func (m *markdown) table(title string, heading []string, rows int, row func(int) []string) {
	if rows == 0 {
		return
	}
	m.line("\n### " + title + "\n")
	m.line("| " + strings.Join(heading, " | ") + " |")
	m.line(strings.Repeat("|---", len(heading)) + "|")
	for i := range rows {
		line := "| " + strings.Join(row(i), " | ") + " |"
		if m.Len()+len(line) > mostTables {
			m.line(fmt.Sprintf("\n... and %d more", rows-i))
			return
		}
		m.line(line)
	}
}

// details adds the lines of nginx.conf, collapsed by owner.
func (m *markdown) details(all []Lines) {
	if len(all) == 0 {
		return
	}
	m.line("\n### nginx.conf\n")
	for i := range all {
		l := &all[i]
		fence := strings.Repeat("`", max(3, longestRun(string(l.Unified))+1))
		text := fmt.Sprintf("<details><summary><code>%s</code>: +%d -%d lines</summary>\n\n%sdiff\n%s%s\n\n</details>\n",
			html.EscapeString(l.title()), l.Gained, l.Lost, fence, l.Unified, fence)
		if m.Len()+len(text) > mostMarkdown {
			m.line(fmt.Sprintf("\n... and the lines of %d more", len(all)-i))
			return
		}
		m.line(text)
	}
}

func (r *Route) cells() []string {
	end := func(e *End) string {
		if e == nil {
			return ""
		}
		return code(e.Backend)
	}
	var effects []string
	for _, e := range r.Effects {
		effects = append(effects, code(e.String()))
	}
	shown := r.New
	if shown == nil {
		shown = r.Old
	}
	return []string{string(r.Change), code(r.where()) + " " + shown.Match, end(r.Old), end(r.New), strings.Join(effects, "<br>")}
}

// code returns a text as code of Markdown in a cell of a table. Its fence is longer than
// any run of backticks in it. A "|" is escaped, as in every cell.
func code(text string) string {
	if text == "" {
		return ""
	}
	if len(text) > mostCell {
		text = strings.ToValidUTF8(text[:mostCell], "") + "..."
	}
	fence := strings.Repeat("`", longestRun(text)+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return fence + strings.ReplaceAll(text, "|", `\|`) + fence
}

// longestRun returns the length of the longest run of backticks.
func longestRun(text string) int {
	longest, run := 0, 0
	for _, c := range text {
		if c != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
