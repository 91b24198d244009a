package render

import "sluice/internal/model"

// hopsView is the header that counts how often a request came through us, and the variable
// with its value.
type hopsView struct{ Header, Variable string }

// hops derives the header from the token, without revealing it: backends see the header,
// and must not learn our other secret names. If a backend sends the header, it only
// limits its own requests.
func (e *Environment) hops() hopsView {
	header := "X-Hops-" + model.SHA256("hops " + e.Token)[:16]
	return hopsView{Header: header, Variable: sentHeader(header)}
}
