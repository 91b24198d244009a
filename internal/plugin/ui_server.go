package plugin

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"sluice/internal/debugapi"
	"sluice/internal/model"
)

// The files of the page. It has no others, and asks for none elsewhere.
//
//go:embed ui
var uiFiles embed.FS

// uiTypes are the files with their types.
var uiTypes = map[string]string{
	"index.html": "text/html; charset=utf-8", "page.js": "text/javascript; charset=utf-8",
	"page.css": "text/css; charset=utf-8", "icon.svg": "image/svg+xml",
}

// ui is the page and the answers that it asks for.
type ui struct {
	source uiSource
	// host is what the Host header has to be, such as "127.0.0.1:8100".
	host string
	// token begins each path. A cookie would also reach other servers of 127.0.0.1, because
	// cookies know no ports.
	token string
	kept  map[string]*kept

	mu   sync.Mutex
	hash string // of nginx.conf, from the last answer
	conf *kept  // the last part of nginx.conf that was asked for, nil before
	// life is the context of the command, which outlives requests.
	life context.Context
}

func newUI(life context.Context, source uiSource, host, token string) *ui {
	u := &ui{source: source, host: host, token: token, kept: map[string]*kept{}, life: life}
	for _, s := range append([]section{{name: "general", read: u.general, fresh: 2 * time.Second}}, sections...) {
		u.kept[s.name] = &kept{section: s, source: source, life: life}
	}
	return u
}

// address is the URL of the page.
func (u *ui) address() string { return "http://" + u.host + "/" + u.token + "/" }

// general reads the state of the controller as names and values, and keeps the hash of nginx.conf.
func (u *ui) general(ctx context.Context, s uiSource) (table, error) {
	body, pod, err := s.get(ctx, asking(debugapi.GeneralPath))
	if err != nil {
		return table{}, err
	}
	g, err := decode[debugapi.General](body)
	if err != nil {
		return table{}, err
	}
	u.mu.Lock()
	u.hash = g.ConfHash
	u.mu.Unlock()
	problems := cell{strconv.Itoa(g.Counts.Problems), green}
	if g.Counts.Problems > 0 {
		problems.colour = yellow
	}
	return table{heading: []string{"NAME", "VALUE"}, rows: [][]cell{
		{{text: "Pod"}, {text: pod}}, {{text: "Version"}, {text: g.Version}}, {{text: "Ready"}, readiness(g)},
		{{text: "nginx"}, nginxState(g.Nginx)}, {{text: "Last apply"}, lastApply(g.LastApply, time.Now())},
		{{text: "Ingresses"}, {text: strconv.Itoa(g.Counts.Ingresses)}}, {{text: "Problems"}, problems},
	}}, nil
}

func (u *ui) present() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.hash
}

// handler returns the whole server.
func (u *ui) handler() http.Handler {
	mux := http.NewServeMux()
	for name, kind := range uiTypes {
		path := "/" + name
		if name == "index.html" {
			path = "/{$}"
		}
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			text, err := uiFiles.ReadFile("ui/" + name)
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			w.Header().Set("Content-Type", kind)
			_, _ = w.Write(text) // an error means that the browser has gone
		})
	}
	mux.HandleFunc("/table/{section}", u.answering(u.table))
	mux.HandleFunc("/conf", u.answering(u.lines))
	mux.HandleFunc("/explain", u.answering(u.explain))
	return u.guarded(http.StripPrefix("/"+u.token, mux))
}

// uiPart is the part of a table that is asked for.
type uiPart struct {
	search        string
	offset, limit int
}

// mostRows is the maximum of limit.
const mostRows = 500

func partOf(query url.Values) (p uiPart, err error) {
	p = uiPart{search: query.Get("search"), limit: 100}
	if len(p.search) > debugapi.MostSearch {
		return p, fmt.Errorf("search: want at most %d bytes", debugapi.MostSearch)
	}
	number := func(name string, least, most int, into *int) {
		text := query.Get(name)
		if text == "" || err != nil {
			return
		}
		if *into, err = strconv.Atoi(text); err != nil || *into < least || *into > most {
			err = fmt.Errorf("%s: want a whole number from %d to %d (got %q)", name, least, most, text)
		}
	}
	number("offset", 0, 1<<31-1, &p.offset)
	number("limit", 1, mostRows, &p.limit)
	return p, err
}

// look returns a section that is as new as the present nginx.conf if it follows that.
func (u *ui) look(ctx context.Context, k *kept) found {
	if k.follows && u.present() == "" {
		u.kept["general"].look(ctx, "")
	}
	return k.look(ctx, u.present())
}

// table answers with a part of a section.
func (u *ui) table(r *http.Request) (any, error) {
	k, known := u.kept[r.PathValue("section")]
	if !known {
		return nil, fmt.Errorf("there is no section %q", r.PathValue("section"))
	}
	p, err := partOf(r.URL.Query())
	if err != nil {
		return nil, err
	}
	f := u.look(r.Context(), k)
	numbers, matched := f.page(p.search, p.offset, p.limit)
	a := uiTable{Heading: f.heading, Wide: f.wide, Rows: []uiRow{}, Matched: matched, Total: len(f.rows), Offset: p.offset, Error: errorText(f.err)}
	for _, i := range numbers {
		row := uiRow{Cells: shownCells(f.rows[i])}
		if k.target != nil {
			row.URL = model.OneLine(k.target(f.rows[i]), mostShown)
		}
		a.Rows = append(a.Rows, row)
	}
	return a, nil
}

// lines answers with a part of nginx.conf. Only the last part is kept.
func (u *ui) lines(r *http.Request) (any, error) {
	p, err := partOf(r.URL.Query())
	if err != nil {
		return nil, err
	}
	part := confSection(p.search, p.offset, p.limit)
	u.mu.Lock()
	if u.conf == nil || u.conf.name != part.name {
		u.conf = &kept{section: part, source: u.source, life: u.life}
	}
	k := u.conf
	u.mu.Unlock()
	f := u.look(r.Context(), k)
	a := uiTable{Heading: f.heading, Rows: []uiRow{}, Matched: f.matched, Total: f.total, Offset: p.offset, Error: errorText(f.err)}
	for _, row := range f.rows {
		a.Rows = append(a.Rows, uiRow{Cells: shownCells(row)})
	}
	return a, nil
}

// mostURL is the maximum length of a URL for explain in bytes.
const mostURL = 8000

// explain answers with the explanation of a request as a text.
func (u *ui) explain(r *http.Request) (any, error) {
	target, method := r.URL.Query().Get("url"), cmp.Or(r.URL.Query().Get("method"), http.MethodGet)
	if len(target) > mostURL {
		return nil, fmt.Errorf("url: want at most %d bytes", mostURL)
	}
	body, _, err := u.source.get(r.Context(), asking(debugapi.ExplainPath, debugapi.URLParam, target, debugapi.MethodParam, method))
	return struct {
		Text  string `json:"text"`
		Error string `json:"error,omitempty"`
	}{printableLines(string(body)), errorText(err)}, nil
}
