package plugin

import (
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"

	"sluice/internal/model"
)

// uiHeaders are those of every answer.
var uiHeaders = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
	"X-Content-Type-Options":       "nosniff",
	"X-Frame-Options":              "DENY",
	"Referrer-Policy":              "no-referrer",
	"Cache-Control":                "no-store",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Cross-Origin-Opener-Policy":   "same-origin",
}

// guarded lets requests pass that only read, that name this server, and that know the token.
// A page elsewhere whose name leads here (DNS rebinding) has another Host.
func (u *ui) guarded(next http.Handler) http.Handler {
	_, port, _ := net.SplitHostPort(u.host)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range uiHeaders {
			w.Header().Set(name, value)
		}
		token, _, within := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		switch {
		case r.Host != u.host && r.Host != "localhost:"+port:
			http.Error(w, fmt.Sprintf("Host: want %s (got %s)", u.host, model.Quoted(r.Host)), http.StatusMisdirectedRequest)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "this page only reads: want GET or HEAD", http.StatusMethodNotAllowed)
		case !within || subtle.ConstantTimeCompare([]byte(token), []byte(u.token)) != 1:
			http.Error(w, "want the address that `kubectl sluice ui` printed", http.StatusNotFound)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// answering writes an answer as JSON. An error is one of the request.
func (u *ui) answering(answer func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		value, err := answer(r)
		if err != nil {
			http.Error(w, printableLines(err.Error()), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(value) // an error means that the browser has gone
	}
}

// uiTable is a part of a table.
type uiTable struct {
	Heading []string `json:"heading"`
	// Wide is the number of last columns that are for details.
	Wide int     `json:"wide"`
	Rows []uiRow `json:"rows"`
	// Matched is the number of rows that the search finds, and Total that of all rows.
	Matched int `json:"matched"`
	Total   int `json:"total"`
	Offset  int `json:"offset"`
	// Error is the reason why the rows are old, or why there are none.
	Error string `json:"error,omitempty"`
}

type uiRow struct {
	Cells []uiCell `json:"cells"`
	// URL is one for explain.
	URL string `json:"url,omitempty"`
}

type uiCell struct {
	Text string `json:"text"`
	// Mark is bad, warn or good, or empty.
	Mark string `json:"mark,omitempty"`
}

var uiMarks = map[colour]string{red: "bad", yellow: "warn", green: "good"}

// shownCells returns the cells of a row, each as one printable line.
func shownCells(row []cell) []uiCell {
	all := make([]uiCell, len(row))
	for i, c := range row {
		all[i] = uiCell{model.OneLine(strings.ReplaceAll(c.text, "\t", "    "), mostShown), uiMarks[c.colour]}
	}
	return all
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return printableLines(err.Error())
}
