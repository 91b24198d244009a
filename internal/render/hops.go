package render

// hopsView is the header in which we count how often a request came through us,
// and the variable with what it says.
type hopsView struct{ Header, Variable string }

// hops names the header by the token, and does not tell that: backends see the
// header, and must not learn the names of others. A backend that sends it only
// shortens what its own requests may do.
func (e *Environment) hops() hopsView {
	header := "X-Hops-" + hexHash("hops " + e.Token)[:16]
	return hopsView{Header: header, Variable: sentHeader(header)}
}
