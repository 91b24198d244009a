package debug

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"sluice/internal/debugapi"
	"sluice/internal/render"
)

// part selects lines of nginx.conf for a page.
type part struct {
	// has reports whether a line has the searched words; nil for any line.
	has           func(render.Line) bool
	offset, limit int
}

// part reads the parameters of a page. Without them it is everything.
func (p parameters) part(format string) (part, error) {
	all := part{limit: math.MaxInt32}
	for _, name := range []string{debugapi.SearchParam, debugapi.OffsetParam, debugapi.LimitParam} {
		if _, given := p[name]; given && format != debugapi.JSON {
			return all, p.wrong(name, "it with "+debugapi.FormatParam+"="+debugapi.JSON)
		}
	}
	search := p[debugapi.SearchParam]
	if len(search) > debugapi.MostSearch {
		return all, p.wrong(debugapi.SearchParam, fmt.Sprintf("words of at most %d bytes", debugapi.MostSearch))
	}
	if words := strings.Fields(strings.ToLower(search)); len(words) > 0 {
		all.has = (&finder{words: words}).in
	}
	if err := p.number(debugapi.OffsetParam, 0, math.MaxInt32, &all.offset); err != nil {
		return all, err
	}
	return all, p.number(debugapi.LimitParam, 1, debugapi.MostLimit, &all.limit)
}

// number reads a parameter, if it is given.
func (p parameters) number(name string, least, most int, into *int) error {
	text, given := p[name]
	if !given {
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return p.wrong(name, fmt.Sprintf("a whole number from %d to %d", least, most))
	}
	*into = n
	return nil
}

// finder finds lines with all of its words, which are in lower case. It allocates nothing for
// a line, and is for one goroutine.
type finder struct {
	words []string
	// origin is that of the last line, and shown its text in lower case.
	origin render.Origin
	shown  string
	text   []byte
}

func (f *finder) in(line render.Line) bool {
	if line.Origin != f.origin || f.shown == "" {
		f.origin = line.Origin
		f.shown = strings.ToLower(strings.Join([]string{ownerOf(line), line.Behaviour, line.Host, line.Stream}, "\n") + "\n")
	}
	f.text = append(f.text[:0], line.Text...)
	for i, c := range f.text {
		if 'A' <= c && c <= 'Z' {
			f.text[i] = c + 'a' - 'A'
		}
	}
	for _, word := range f.words {
		if !strings.Contains(f.shown, word) && !bytes.Contains(f.text, []byte(word)) {
			return false
		}
	}
	return true
}

// ownerOf is the owner of a line as the plugin shows it.
func ownerOf(line render.Line) string {
	if line.Object.Name == "" {
		return "sluice"
	}
	return line.Object.String()
}

// both holds if both functions do, of which nil always holds.
func both(a, b func(render.Line) bool) func(render.Line) bool {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return func(line render.Line) bool { return a(line) && b(line) }
}
