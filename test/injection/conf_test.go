package injection

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// directive is a directive or block of nginx.conf as nginx sees it.
type directive struct {
	// path is the names of the blocks around it, such as "http/server".
	path string
	name string
	args []string
	// isBlock is set if it has a body, which may be empty.
	isBlock bool
	body    []*directive
	// start and stop are where it is in the text.
	start, stop int
}

// all calls visit for every directive of a list and of their bodies.
func all(list []*directive, visit func(*directive)) {
	for _, d := range list {
		visit(d)
		all(d.body, visit)
	}
}

// find gives the directives of a name within a list, not within their bodies.
func find(list []*directive, name string) []*directive {
	var found []*directive
	for _, d := range list {
		if d.name == name {
			found = append(found, d)
		}
	}
	return found
}

// passing gives the directives that pass a request to a backend, by whatever protocol.
func passing(list []*directive) []*directive {
	return slices.Concat(find(list, "proxy_pass"), find(list, "grpc_pass"), find(list, "fastcgi_pass"))
}

// argument gives the arguments of the first directive of a name, joined.
func argument(list []*directive, name string) string {
	if found := find(list, name); len(found) > 0 {
		return strings.Join(found[0].args, " ")
	}
	return ""
}

// maxToken is the buffer that nginx reads a token through.
const maxToken = 4096

// reader reads a configuration as nginx does. It is written from nginx's source
// and knows nothing of how Sluice prints.
// Source: ngx_conf_read_token and ngx_conf_parse in nginx's src/core/ngx_conf_file.c.
type reader struct {
	text []byte
	at   int
	// comments counts the comments: nginx passes over them.
	comments int
}

// parse reads a whole configuration.
func parse(text []byte) ([]*directive, *reader, error) {
	r := &reader{text: text}
	list, closed, err := r.block("")
	if err == nil && closed {
		err = errors.New(`unexpected "}"`)
	}
	return list, r, err
}

// block reads directives up to the end of the block or of the text.
func (r *reader) block(path string) (list []*directive, closed bool, err error) {
	for {
		tokens, ending, start, err := r.statement()
		if err != nil || ending == 0 {
			return list, false, err
		}
		if ending == '}' {
			return list, true, nil
		}
		d := &directive{path: path, name: tokens[0], args: tokens[1:], start: start}
		if ending == '{' {
			d.isBlock = true
			var whole bool
			d.body, whole, err = r.block(strings.TrimPrefix(path+"/"+d.name, "/"))
			if err == nil && !whole {
				err = fmt.Errorf("block %s has no end", d.name)
			}
			if err != nil {
				return list, false, err
			}
		}
		d.stop = r.at
		list = append(list, d)
	}
}

// state is that of ngx_conf_read_token, with its names.
type state struct {
	lastSpace, needSpace, sharpComment, quoted, singleQuoted, doubleQuoted, variable bool
}

// statement reads tokens up to what ends them: ';', '{', '}' or 0 for the end of
// the text.
func (r *reader) statement() (tokens []string, ending byte, first int, err error) {
	s := state{lastSpace: true}
	start := r.at
	first = -1
	for r.at < len(r.text) {
		ch := r.text[r.at]
		r.at++
		if ch == '\n' && s.sharpComment {
			s.sharpComment = false
		}
		switch {
		case s.sharpComment:
			continue
		case s.quoted:
			s.quoted = false
			continue
		}
		if s.needSpace {
			switch {
			case space(ch):
				s.lastSpace, s.needSpace = true, false
				continue
			case ch == ';', ch == '{':
				return tokens, ch, first, nil
			case ch == ')':
				s.lastSpace, s.needSpace = true, false
			default:
				return nil, 0, 0, fmt.Errorf("unexpected %q at byte %d", ch, r.at-1)
			}
		}
		if s.lastSpace {
			start = r.at - 1
			if space(ch) {
				continue
			}
			if done, err := r.startToken(&s, ch, &start, len(tokens)); done || err != nil {
				return tokens, ch, first, err
			}
			if first < 0 && !s.sharpComment {
				first = r.at - 1
			}
			continue
		}
		if !s.ends(ch) {
			if r.at-start >= maxToken {
				return nil, 0, 0, fmt.Errorf("too long parameter at byte %d", start)
			}
			continue
		}
		tokens = append(tokens, unescape(r.text[start:r.at-1]))
		if !s.needSpace && !space(ch) {
			return tokens, ch, first, nil
		}
	}
	if len(tokens) > 0 || !s.lastSpace {
		return nil, 0, 0, errors.New("unexpected end of file")
	}
	return nil, 0, first, nil
}

// startToken takes the first byte of a token, or what stands between tokens;
// done is true where it ends the directive.
func (r *reader) startToken(s *state, ch byte, start *int, tokens int) (done bool, err error) {
	switch ch {
	case ';', '{':
		if tokens == 0 {
			return false, fmt.Errorf("unexpected %q at byte %d", ch, r.at-1)
		}
		return true, nil
	case '}':
		if tokens != 0 {
			return false, fmt.Errorf(`unexpected "}" at byte %d`, r.at-1)
		}
		return true, nil
	case '#':
		s.sharpComment = true
		r.comments++
		return false, nil
	case '\\':
		s.quoted = true
	case '"':
		*start++
		s.doubleQuoted = true
	case '\'':
		*start++
		s.singleQuoted = true
	case '$':
		s.variable = true
	}
	s.lastSpace = false
	return false, nil
}

// ends takes a further byte of a token and says whether it ends it.
func (s *state) ends(ch byte) bool {
	if ch == '{' && s.variable {
		return false
	}
	s.variable = false
	switch {
	case ch == '\\':
		s.quoted = true
	case ch == '$':
		s.variable = true
	case s.doubleQuoted && ch == '"', s.singleQuoted && ch == '\'':
		s.doubleQuoted, s.singleQuoted, s.needSpace = false, false, true
		return true
	case s.doubleQuoted, s.singleQuoted:
	case space(ch), ch == ';', ch == '{':
		s.lastSpace = true
		return true
	}
	return false
}

func space(ch byte) bool { return ch == ' ' || ch == '\t' || ch == '\r' || ch == '\n' }

// unescape gives what nginx makes of the bytes of a token.
func unescape(raw []byte) string {
	var out strings.Builder
	for i := 0; i < len(raw); i++ {
		if raw[i] == '\\' && i+1 < len(raw) {
			if at := strings.IndexByte(`"'\trn`, raw[i+1]); at >= 0 {
				out.WriteByte("\"'\\\t\r\n"[at])
				i++
				continue
			}
		}
		out.WriteByte(raw[i])
	}
	return out.String()
}

func TestReader(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                             nil,
		"a b;":                         {"a|b"},
		"a {b c; d{}} e;":              {"a{", "a/b|c", "a/d{", "e"},
		`a "b ; } { # \" \\" 'c"';`:    {`a|b ; } { # " \|c"`},
		"a b#c; # d; \n# }\ne;":        {"a|b#c", "e"},
		`a \;b\ c ${x}{ }`:             {`a|\;b\ c|${x}{`},
		`if ($a ~ "b") { c; }`:         {"if|($a|~|b|){", "if/c"},
		`a \n\t\"\x;`:                  {"a|\n\t\"\\x"},
		"a\r\n\tb\x00c;":               {"a|b\x00c"},
		`a "${";`:                      {"a|${"},
		`a x"y z;`:                     {`a|x"y|z`},
		"a " + strings.Repeat("x", 99): nil,
	} {
		list, _, err := parse([]byte(text))
		if want == nil && text != "" {
			if err == nil {
				t.Errorf("%q: read without an error", text)
			}
			continue
		}
		var got []string
		all(list, func(d *directive) {
			line := strings.Join(append([]string{strings.TrimPrefix(d.path+"/"+d.name, "/")}, d.args...), "|")
			if d.isBlock {
				line += "{"
			}
			got = append(got, line)
		})
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v\n%s", text, err, diff)
		}
	}
	for _, text := range []string{"}", "a }", "a {", ";", "{", "a", `a "b"c;`, `a "b`, "a { b; } }", "a b #;\n", "a " + strings.Repeat("x", maxToken) + ";"} {
		if _, _, err := parse([]byte(text)); err == nil {
			t.Errorf("%.20q: read without an error", text)
		}
	}
	if _, r, _ := parse([]byte("# x\na b#c;#\n")); r.comments != 2 {
		t.Errorf("counted %d comments, want 2", r.comments)
	}
}
