package model

// Computed is a variable that a Lua file computes for each request of a location.
type Computed struct {
	// Variable is its name, without "$".
	Variable string `json:"variable"`
	// By is the name of the file, without its folder and ".lua".
	By string `json:"by"`
	// Arguments are those of the file, each an int, a Word, a Verbatim or a PathOfRule, or a
	// string that may contain variables.
	Arguments []any `json:"arguments,omitempty"`
}

// The arguments besides numbers and strings.
type (
	// Word is printed without quotes.
	Word string
	// Verbatim is a text without variables: a "$" is one.
	Verbatim string
	// PathOfRule is the path of the rule of the location, shortened. It is Verbatim.
	PathOfRule struct{}
)

// EscapedURI is the variable with the URI of the client's request, escaped as one argument
// of a URL.
const EscapedURI = "escaped_request_uri"
