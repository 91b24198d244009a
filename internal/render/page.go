package render

import (
	"bytes"
	"slices"
	"text/template"

	"sluice/internal/model"
	"sluice/internal/tokens"
)

// Origin is the origin of a line of the file.
type Origin struct {
	// Object asked for it; the zero value is Sluice itself.
	Object model.ObjectRef `json:"object"`
	// Behaviour is the block that printed it, "" for the rule itself.
	Behaviour string `json:"behaviour,omitempty"`
	// Host is the host of its server, "" for the catch-all server and outside of
	// servers.
	Host string `json:"host,omitempty"`
	// Stream is the key of its TCP or UDP service, "" for other lines.
	Stream string `json:"stream,omitempty"`
}

// mark is a line from which on the lines have another origin. Both fields are indexes.
type mark struct {
	line   int32
	origin int32
}

// page is text in the making, with its origins.
type page struct {
	bytes.Buffer
	// counted bytes have line line ends.
	counted int
	line    int32
	marks   []mark
	origins []Origin
	// raw are the extents of snippets, in order.
	raw []extent
}

// Write takes the text of a template. A snippet comes in one piece, between marks.
func (p *page) Write(text []byte) (int, error) {
	snippet, marked := bytes.CutPrefix(text, []byte(tokens.RawMark))
	if !marked {
		return p.Buffer.Write(text)
	}
	start := p.Len()
	p.Buffer.Write(bytes.TrimSuffix(snippet, []byte(tokens.RawMark)))
	p.raw = append(p.raw, extent{start, p.Len()})
	return len(text), nil
}

// lines returns the number of line ends so far. It reads each byte once.
func (p *page) lines() int32 {
	p.line += int32(bytes.Count(p.Bytes()[p.counted:], []byte{'\n'}))
	p.counted = p.Len()
	return p.line
}

// from sets the origin of the following lines.
func (p *page) from(o Origin) {
	line := p.lines()
	if n := len(p.marks); n > 0 && p.origins[p.marks[n-1].origin] == o {
		return
	}
	if n := len(p.marks); n > 0 && p.marks[n-1].line == line {
		p.marks = p.marks[:n-1]
	}
	p.marks = append(p.marks, mark{line: line, origin: p.index(o)})
}

// index returns the index of an origin. It usually is one of the last eight.
func (p *page) index(o Origin) int32 {
	for i := len(p.origins) - 1; i >= 0 && i >= len(p.origins)-8; i-- {
		if p.origins[i] == o {
			return int32(i)
		}
	}
	p.origins = append(p.origins, o)
	return int32(len(p.origins) - 1)
}

// now returns the current origin.
func (p *page) now() Origin {
	if len(p.marks) == 0 {
		return Origin{}
	}
	return p.origins[p.marks[len(p.marks)-1].origin]
}

// position is a state of a page.
type position struct {
	length, counted int
	line            int32
	marks, origins  int
	raw             int
	last            mark
}

func (p *page) here() position {
	line := p.lines()
	at := position{length: p.Len(), counted: p.counted, line: line, marks: len(p.marks), origins: len(p.origins), raw: len(p.raw)}
	if at.marks > 0 {
		at.last = p.marks[at.marks-1]
	}
	return at
}

// back returns the page to an earlier state.
func (p *page) back(to position) {
	p.Truncate(to.length)
	p.counted, p.line = to.counted, to.line
	p.marks, p.origins, p.raw = p.marks[:to.marks], p.origins[:to.origins], p.raw[:to.raw]
	if to.marks > 0 {
		p.marks[to.marks-1] = to.last
	}
}

// indent indents the lines since a position, ends the last one, and drops empty ones.
// Snippets stay unchanged, because a line can end within their quotes.
func (p *page) indent(since int, tabs string) {
	text, raw := bytes.Clone(p.Bytes()[since:]), p.rawIn(since, p.Len())
	p.Truncate(since)
	p.raw = p.raw[:len(p.raw)-len(raw)]
	done := 0
	for _, e := range raw {
		p.indented(text[done:e.start], tabs)
		start := p.Len()
		p.Buffer.Write(text[e.start:e.end])
		p.raw = append(p.raw, extent{start, p.Len()})
		done = e.end
	}
	p.indented(text[done:], tabs)
}

func (p *page) indented(text []byte, tabs string) {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimRight(line, " \t\n"); len(line) > 0 {
			p.WriteString(tabs)
			p.Write(line)
			p.WriteByte('\n')
		}
	}
}

// cut returns the text as a chunk, and empties the page.
func (p *page) cut() *chunk {
	lines := p.lines()
	for n := len(p.marks); n > 0 && p.marks[n-1].line >= lines; n-- {
		p.marks = p.marks[:n-1] // It is for the lines of the next chunk.
	}
	c := &chunk{text: bytes.Clone(p.Bytes()), lines: lines, marks: slices.Clone(p.marks), origins: slices.Clone(p.origins), raw: slices.Clone(p.raw)}
	c.headersMore, c.read = usesHeadersMore(c.text, c.raw), readingOf(c.text, c.raw)
	p.Reset()
	p.counted, p.line = 0, 0
	p.marks, p.origins, p.raw = p.marks[:0], p.origins[:0], p.raw[:0]
	return c
}

// chunk is a finished part of the file. It never changes.
type chunk struct {
	text    []byte
	lines   int32
	marks   []mark
	origins []Origin
	raw     []extent
	// headersMore is set if a snippet uses the module of that name.
	headersMore bool
	// read are the variables that snippets name.
	read reading
	// server is set for the server of a host.
	server bool
}

// insertion writes text that Go inserts into a template, such as blocks and locations, to
// the page of the template.
type insertion func() error

// chunkInsertion inserts a chunk without its origins.
func (p *page) chunkInsertion(c *chunk) insertion {
	return func() error {
		start := p.Len()
		for _, e := range c.raw {
			p.raw = append(p.raw, extent{start + e.start, start + e.end})
		}
		_, err := p.Buffer.Write(c.text)
		return err
	}
}

// execute writes a template to the page.
func (p *page) execute(t *template.Template, data any) error { return t.Execute(p, data) }
