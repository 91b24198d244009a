package translate

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sluice/internal/annotations"
	"sluice/internal/claim"
	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/syntax"
)

const fastcgiParams = "fastcgi-params-configmap"

// ofHTTP are the annotations that only apply to HTTP backends: nginx has no such directive
// for another protocol.
var ofHTTP = []string{
	"connection-proxy-header", "cookie-flags", "proxy-cookie-domain", "proxy-cookie-path", "proxy-http-version", "proxy-redirect-from", "proxy-redirect-to",
}

// notOfGRPC are further ones that do not apply to gRPC: nginx never buffers it.
var notOfGRPC = []string{
	"proxy-buffering", "proxy-buffers-number", "proxy-busy-buffers-size", "proxy-max-temp-file-size", "proxy-request-buffering",
}

// Unused returns the annotations that have no effect with a protocol of the backends.
func Unused(protocol model.BackendProtocol) []string {
	switch protocol {
	case model.FastCGI:
		return ofHTTP
	case model.GRPC:
		return slices.Concat(ofHTTP, notOfGRPC)
	}
	return nil
}

// remarkProtocol reports annotations that have no effect with the protocol of the
// backends.
func (i *owner) remarkProtocol(asked *annotations.Transport) {
	protocol := asked.To().Protocol
	if protocol != model.FastCGI && asked.Index+asked.Params != "" {
		i.remarkWritten("it has no effect without "+i.PrefixKey+"backend-protocol: FCGI", "fastcgi-index", fastcgiParams)
	}
	without := "it has no effect with backend-protocol: " + strings.ToUpper(asked.Protocol)
	switch protocol {
	case model.FastCGI:
		i.remarkWritten(without, ofHTTP...)
	case model.GRPC:
		i.remarkWritten(without, ofHTTP...)
		i.remarkWritten(without+": nginx passes on each message at once", notOfGRPC...)
	}
}

// remarkWritten reports those annotations that are written, and ask for something.
func (i *owner) remarkWritten(text string, names ...string) {
	for _, key := range names {
		field := i.field(key)
		value, written := i.given[field]
		reported := slices.ContainsFunc(i.Problems, func(p model.Problem) bool { return p.Field == field })
		if written && !reported && annotations.IsRead(key) && !strings.EqualFold(strings.TrimSpace(value), "off") {
			i.report(field, model.NoEffect, text)
		}
	}
}

// fastcgiBlock is the data of the template fastcgi.
type fastcgiBlock struct {
	Index  string             `json:"index,omitempty"`
	Params []fastcgiParameter `json:"params,omitempty"`
}

type fastcgiParameter struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// parameterName matches the names of FastCGI parameters. A bucket of nginx's hash table of
// headers holds 46 letters behind HTTP_.
var parameterName = regexp.MustCompile(`^[A-Za-z0-9._-]{1,46}$`)

// readFastCGI reads the index and the parameters of FastCGI backends.
func (t *translation) readFastCGI(ing *owner, asked *annotations.Transport) *claim.Attached {
	attached := &claim.Attached{Transport: asked.To()}
	block := fastcgiBlock{Index: asked.Index}
	if asked.Params != "" {
		params, fault := t.entriesAt(ing, fastcgiParams, asked.Params, wrongParameter)
		if fault != nil {
			return ing.refused(fault)
		}
		for _, p := range params {
			block.Params = append(block.Params, fastcgiParameter(p))
			attached.Size += len(p.Name) + len(p.Value)
		}
	}
	if block.Index != "" || block.Params != nil {
		attached.Block = annotations.BlockOf(ing.Ref, "fastcgi", block)
	}
	return attached
}

// wrongParameter returns the fault of a FastCGI parameter, "" for none.
func wrongParameter(p entry) string {
	switch {
	case !parameterName.MatchString(p.Name):
		return fmt.Sprintf("want names of parameters, of at most 46 letters, digits and . _ -, as its keys (got %s)", model.Quoted(p.Name))
	case !keys.IsParameterText(p.Value) || len(p.Value) > syntax.LongestHeaderValue:
		return fmt.Sprintf("want at most %d printable ASCII characters, with variables such as $fastcgi_script_name, as the value of %s (got %s)", syntax.LongestHeaderValue, p.Name, model.Quoted(p.Value))
	}
	return ""
}
