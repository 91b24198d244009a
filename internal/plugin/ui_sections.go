package plugin

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice/internal/debugapi"
	"sluice/internal/model"
)

// uiSource answers the questions of the page.
type uiSource interface {
	get(context.Context, question) (body []byte, pod string, err error)
	rates(context.Context) (top, error)
}

// section is a table of the page that is read whole and kept for a time. The plugin searches it
// and cuts it into pages. So a key that is pressed in a search costs the controller nothing.
type section struct {
	name string
	read func(context.Context, uiSource) (table, error)
	// fresh is the age at which it is read again.
	fresh time.Duration
	// follows is set if it changes with nginx.conf only: before its time, it is read again when
	// nginx.conf has changed.
	follows bool
	// target returns the URL for explain of a row; nil for none.
	target func(row []cell) string
}

// sections are those that are kept whole. Of nginx.conf, a part is: it is large, and the controller
// searches it.
var sections = []section{
	{"routes", viewed(debugapi.RoutesPath, wholeRoutes), time.Minute, true, routeURL},
	{"problems", viewed(debugapi.ProblemsPath, problemTable), 4 * time.Second, false, nil},
	{"certificates", viewed(debugapi.CertsPath, certificatesByExpiry), 20 * time.Second, false, nil},
	{"backends", viewed(debugapi.BackendsPath, func(all []debugapi.Backend) table { return backendTable(all, true) }), 8 * time.Second, false, nil},
	{"reloads", viewed(debugapi.ReloadsPath, reloadsWithTime), 4 * time.Second, false, nil},
	{"rates", func(ctx context.Context, s uiSource) (table, error) {
		t, err := s.rates(ctx)
		return t.table(), err
	}, time.Second, false, nil},
}

// viewed reads a view of the controller as a table.
func viewed[T any](path string, tabled func(T) table) func(context.Context, uiSource) (table, error) {
	return viewedBy(asking(path), tabled)
}

// viewedBy is viewed for a question with parameters.
func viewedBy[T any](q question, tabled func(T) table) func(context.Context, uiSource) (table, error) {
	return func(ctx context.Context, s uiSource) (table, error) {
		body, _, err := s.get(ctx, q)
		if err != nil {
			return table{}, err
		}
		value, err := decode[T](body)
		if err != nil {
			return table{}, err
		}
		return tabled(value), nil
	}
}

// wholeRoutes has no columns for details only: a row leads to its explanation instead.
func wholeRoutes(all []debugapi.Route) table {
	t := routeTable(all)
	t.wide = 0
	return t
}

// certificatesByExpiry has those first that expire first.
func certificatesByExpiry(all []debugapi.Certificate) table {
	slices.SortStableFunc(all, func(a, b debugapi.Certificate) int { return a.NotAfter.Compare(b.NotAfter) })
	return certificateTable(all, time.Now())
}

// reloadsWithTime has the time and the size of each reload at the end.
func reloadsWithTime(all []debugapi.Reload) table {
	t := reloadTable(all, time.Now(), true)
	t.heading, t.wide = append(t.heading, "AT", "SIZE"), t.wide+2
	for i, r := range all {
		size := strconv.Itoa(r.Lines) + " lines, " + strconv.Itoa(r.Bytes) + " bytes"
		t.rows[i] = append(t.rows[i], cells(r.At.UTC().Format(time.RFC3339), size)...)
	}
	return t
}

// plainPath is the part of a pattern before its first special character.
var plainPath = regexp.MustCompile(`^[\w/~%-]*`)

// routeURL returns a URL that the rule of a row may take, for explain. Wildcards and the
// catch-all host become a name.
func routeURL(row []cell) string {
	host, match, path := row[0].text, row[1].text, row[2].text
	if host == catchAll {
		host = "any.example"
	}
	if match == "pattern" {
		path = plainPath.FindString(path)
	}
	return "https://" + strings.Replace(host, "*.", "any.", 1) + cmp.Or(path, "/")
}

// confSection is a part of nginx.conf. Its name is the question, which says what is searched.
func confSection(search string, offset, limit int) section {
	q := asking(debugapi.ConfPath, debugapi.FormatParam, debugapi.JSON, debugapi.SearchParam, search,
		debugapi.OffsetParam, strconv.Itoa(offset), debugapi.LimitParam, strconv.Itoa(limit))
	return section{q.query.Encode(), viewedBy(q, lineTable), time.Minute, true, nil}
}

// lineTable has lines of nginx.conf with their owners.
func lineTable(conf debugapi.Conf) table {
	t := table{heading: []string{"LINE", "WRITTEN BY", "TEXT"}, matched: conf.Matched, total: conf.Total}
	for _, line := range conf.Lines {
		t.rows = append(t.rows, cells(strconv.Itoa(line.Number), originOf(line), model.Lines(line.Text)))
	}
	return t
}
