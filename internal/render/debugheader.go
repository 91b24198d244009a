package render

import (
	"bytes"
	"encoding/json"
	"strings"

	"sluice/internal/model"
	"sluice/internal/tokens"
)

// debugHeader is the header by which a client asks for the decision about its request.
const debugHeader = "X-Sluice-Debug"

// debugHeaderView has the clients that may ask, the hash of their token, and the Lua file
// that answers.
type debugHeaderView struct {
	Clients       []string
	Token, Script string
	// Peer is the variable of the address that no header of a request can name.
	Peer string
}

// debugHeader returns nil if no client may ask.
func (r *rendering) debugHeader(token string) *debugHeaderView {
	clients := r.global.DebugHeader.Clients
	if token == "" || r.global.DebugHeader.Secret == "" || len(clients) == 0 {
		return nil
	}
	return &debugHeaderView{clients, token, r.env.entry("debug_header"), r.view.Forwarded.Peer}
}

// decision is the part of the answer that is known before a request. debug_header.lua adds
// the rest, and package debugapi has all of it.
type decision struct {
	Host     string `json:"host"`
	Modifier string `json:"modifier"`
	Location string `json:"location"`
	Object   string `json:"object"`
	Path     string `json:"path"`
}

// The most bytes of a path in a decision. A path whose bytes have to be escaped may need many
// times as many: then it has fewer.
var mostDecided = []int{1000, 300, 60}

// decision returns the known part for a location as JSON, "" for one that keeps that of the
// location before.
func (s *serverRendering) decision(l *model.Location) string {
	if s.view.DebugHeader == nil || handedOver(l) || isSubrequest(l) || len(l.Dispatch) > 0 {
		return ""
	}
	d := decision{Host: s.hostLabel(), Modifier: string(l.Modifier)}
	if l.Rule.Object != (model.ObjectRef{}) {
		d.Object = l.Rule.Object.String()
	}
	for _, most := range mostDecided {
		d.Location, d.Path = model.OneLine(l.Path, most), model.OneLine(loggedPath(l.Rule), most)
		if text := d.text(); printedLength(text) < tokens.TokenLimit {
			return text
		}
	}
	return ""
}

// decisionOfRedirect returns that for the redirect of a whole server, "" for none.
func (s *serverRendering) decisionOfRedirect() string {
	if s.view.DebugHeader == nil || s.server.RedirectToHTTPS == nil || catchall(s.server) {
		return ""
	}
	return decision{Host: s.hostLabel()}.text()
}

func (d decision) text() string {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(d) // strings have no error
	return strings.TrimSuffix(text.String(), "\n")
}

// printedLength is the length of a text as a token.
func printedLength(text string) int {
	quotes := strings.Count(text, `"`) + strings.Count(text, `\`) + len(`""`)
	return len(strings.ReplaceAll(text, "$", tokens.LiteralDollar)) + quotes
}
