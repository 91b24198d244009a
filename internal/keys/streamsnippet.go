package keys

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sluice/internal/model"
	"sluice/internal/syntax"
)

// StreamSnippet contains nginx directives for the stream level. They are beside those of
// others, and on ports of their own.
type StreamSnippet string

// UnmarshalText accepts complete directives, of which those that listen name a port.
func (s *StreamSnippet) UnmarshalText(text []byte) error {
	upstreams := StreamSnippet(text).upstreams()
	err := checkSnippet(text, func(statement syntax.Statement) string {
		switch {
		case statement.Depth == 0:
		case statement.Name() == "listen":
			_, wrong := portOf(statement)
			return wrong
		// The upstreams of Sluice lead to sockets that believe a PROXY header.
		case statement.Name() == "proxy_pass" && len(statement.Tokens) > 1 && !strings.Contains(statement.Tokens[1], ":") && !slices.Contains(upstreams, statement.Tokens[1]):
			return "leads to an upstream that is not in the snippet: want HOST:PORT, or the name of an upstream of the snippet"
		}
		return reachesFromStream(statement)
	})
	if err != nil {
		return err
	}
	*s = StreamSnippet(text)
	return nil
}

// upstreams are the names of the upstreams in the snippet.
func (s StreamSnippet) upstreams() []string {
	var names []string
	statements, _ := syntax.Parse([]byte(s))
	for _, statement := range statements {
		if statement.Name() == "upstream" && len(statement.Tokens) > 1 {
			names = append(names, statement.Tokens[1])
		}
	}
	return names
}

// Variables returns the variables that blocks of the snippet define, without their $.
func (s StreamSnippet) Variables() []string {
	var names []string
	statements, _ := syntax.Parse([]byte(s))
	for _, statement := range statements {
		variable, groups := statement.Sets()
		for _, name := range append(groups, variable) {
			if name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func reachesFromStream(s syntax.Statement) string {
	if s.Depth == 0 && !slices.Contains([]string{"server", "upstream", "map", "geo", "split_clients"}, s.Name()) {
		return "changes the servers of others: want it in a block such as server or upstream"
	}
	if s.Name() == "server" && s.Depth > 0 && len(s.Tokens) > 1 && strings.HasPrefix(strings.ToLower(s.Tokens[1]), "unix:") {
		return "may lead to a unix socket: want a host that is written out"
	}
	return reaches(s)
}

// Ports returns the ports on which the snippet listens, each once.
func (s StreamSnippet) Ports() []model.StreamPort {
	statements, _ := syntax.Parse([]byte(s))
	var found []model.StreamPort
	for _, statement := range statements {
		if statement.Name() != "listen" {
			continue
		}
		if port, wrong := portOf(statement); wrong == "" && !slices.Contains(found, port) {
			found = append(found, port)
		}
	}
	return found
}

// portOf returns the port of a listen directive, or the reason why it cannot be.
func portOf(s syntax.Statement) (port model.StreamPort, wrong string) {
	if len(s.Tokens) < 2 {
		return port, "names no port"
	}
	text := s.Tokens[1]
	if at := strings.LastIndexByte(text, ':'); at >= 0 && !strings.HasPrefix(strings.ToLower(text), "unix:") {
		text = text[at+1:]
	}
	number, err := strconv.Atoi(text)
	if err != nil || number < 1 || number > 65535 {
		return port, fmt.Sprintf("needs a port from 1 to 65535, as in 9000 or 127.0.0.1:9000 (got %s)", model.Quoted(s.Tokens[1]))
	}
	port = model.StreamPort{Protocol: model.TCP, Number: number}
	if slices.Contains(s.Tokens[2:], "udp") {
		port.Protocol = model.UDP
	}
	return port, ""
}
