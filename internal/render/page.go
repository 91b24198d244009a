package render

import (
	"bytes"
	"slices"
	"text/template"

	"sluice/internal/model"
)

// Origin is who wrote a line of the file.
type Origin struct {
	// Object asked for it; the zero value is Sluice itself.
	Object model.ObjectRef `json:"object"`
	// Behaviour is the block that printed it, "" for the rule itself.
	Behaviour string `json:"behaviour,omitempty"`
	// Host is the server that it is in, "" for what is outside of all hosts
	// and for the catch-all server.
	Host string `json:"host,omitempty"`
	// Stream is the key of the TCP or UDP service that it is of, "" for others.
	Stream string `json:"stream,omitempty"`
}

// mark says that an origin wrote the lines from one on.
type mark struct {
	line   int32
	origin int32
}

// page is text that is being written, with its origins.
type page struct {
	bytes.Buffer
	counted int
	line    int32
	marks   []mark
	origins []Origin
}

// lines gives the number of line ends so far. Each byte is looked at once.
func (p *page) lines() int32 {
	p.line += int32(bytes.Count(p.Bytes()[p.counted:], []byte{'\n'}))
	p.counted = p.Len()
	return p.line
}

// from says who writes what follows.
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

// index gives the place of an origin, which most often is one of the last.
func (p *page) index(o Origin) int32 {
	for i := len(p.origins) - 1; i >= 0 && i >= len(p.origins)-8; i-- {
		if p.origins[i] == o {
			return int32(i)
		}
	}
	p.origins = append(p.origins, o)
	return int32(len(p.origins) - 1)
}

// now gives who writes.
func (p *page) now() Origin {
	if len(p.marks) == 0 {
		return Origin{}
	}
	return p.origins[p.marks[len(p.marks)-1].origin]
}

// position is a point of a page to go back to.
type position struct {
	length, counted int
	line            int32
	marks, origins  int
	last            mark
}

func (p *page) here() position {
	line := p.lines()
	at := position{length: p.Len(), counted: p.counted, line: line, marks: len(p.marks), origins: len(p.origins)}
	if at.marks > 0 {
		at.last = p.marks[at.marks-1]
	}
	return at
}

// back forgets what was written since.
func (p *page) back(to position) {
	p.Truncate(to.length)
	p.counted, p.line = to.counted, to.line
	p.marks, p.origins = p.marks[:to.marks], p.origins[:to.origins]
	if to.marks > 0 {
		p.marks[to.marks-1] = to.last
	}
}

// indent puts tabs before each line since a position, makes sure that the last
// one ends, and drops empty ones.
func (p *page) indent(since int, tabs string) {
	text := bytes.Clone(p.Bytes()[since:])
	p.Truncate(since)
	for line := range bytes.Lines(text) {
		if line = bytes.TrimRight(line, " \t\n"); len(line) > 0 {
			p.WriteString(tabs)
			p.Write(line)
			p.WriteByte('\n')
		}
	}
}

// cut takes what was written as a chunk, and starts anew.
func (p *page) cut() *chunk {
	lines := p.lines()
	for n := len(p.marks); n > 0 && p.marks[n-1].line >= lines; n-- {
		p.marks = p.marks[:n-1] // It would speak of the chunk behind.
	}
	c := &chunk{text: bytes.Clone(p.Bytes()), lines: lines, marks: slices.Clone(p.marks), origins: slices.Clone(p.origins)}
	p.Reset()
	p.counted, p.line = 0, 0
	p.marks, p.origins = p.marks[:0], p.origins[:0]
	return c
}

// chunk is a finished part of the file. It is never changed.
type chunk struct {
	text    []byte
	lines   int32
	marks   []mark
	origins []Origin
	// server is set if it is the server of a host.
	server bool
}

// insertion is text that Go puts into a template: blocks, locations, servers.
// It writes to the page that the template is being executed to.
type insertion interface{ insert() error }

// bytesInsertion is text that is ready.
type bytesInsertion struct {
	page *page
	text []byte
}

func (b bytesInsertion) insert() error {
	_, err := b.page.Write(b.text)
	return err
}

// execute writes a template to the page.
func (p *page) execute(t *template.Template, data any) error { return t.Execute(p, data) }
