package render

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"slices"
	"sort"
)

// File is a finished nginx.conf. It is never changed, and shares the text of
// servers that did not change with the files before it.
type File struct {
	chunks []*chunk
	// starts are the lines, from 0, at which the chunks start.
	starts []int32
	lines  int32
	length int
	trust  []TrustFile
	// printed are the servers as they stand in it.
	printed printed
}

// aroundServers is about how many chunks a file has besides those of its servers.
const aroundServers = 16

// newFile gives an empty file with room for the chunks of so many servers.
func newFile(servers int) *File {
	return &File{chunks: make([]*chunk, 0, servers+aroundServers), starts: make([]int32, 0, servers+aroundServers)}
}

// add appends a chunk.
func (f *File) add(c *chunk) {
	if len(c.text) == 0 {
		return
	}
	f.chunks = append(f.chunks, c)
	f.starts = append(f.starts, f.lines)
	f.lines += c.lines
	f.length += len(c.text)
}

// Len is the size in bytes.
func (f *File) Len() int { return f.length }

// Bytes gives the whole text; the caller owns it.
func (f *File) Bytes() []byte {
	all := make([]byte, 0, f.length)
	for _, c := range f.chunks {
		all = append(all, c.text...)
	}
	return all
}

// written is how many bytes are written at once: there is a chunk for each server.
const written = 256 << 10

// WriteTo writes the whole text.
func (f *File) WriteTo(w io.Writer) (int64, error) {
	out := &counted{w: w}
	buffer := bufio.NewWriterSize(out, min(written, f.length))
	for _, c := range f.chunks {
		if _, err := buffer.Write(c.text); err != nil {
			return out.n, err
		}
	}
	err := buffer.Flush()
	return out.n, err
}

// counted counts what was written.
type counted struct {
	w io.Writer
	n int64
}

func (c *counted) Write(text []byte) (int, error) {
	n, err := c.w.Write(text)
	c.n += int64(n)
	return n, err
}

// Hash is the SHA-256 of the text in hexadecimal.
func (f *File) Hash() string {
	sum := sha256.New()
	for _, c := range f.chunks {
		sum.Write(c.text)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Equal reports whether both have the same text.
func (f *File) Equal(o *File) bool {
	if f == nil || o == nil || f == o {
		return f == o
	}
	if f.length != o.length {
		return false
	}
	same := func(a, b *chunk) bool { return a == b || bytes.Equal(a.text, b.text) }
	return slices.EqualFunc(f.chunks, o.chunks, same) || bytes.Equal(f.Bytes(), o.Bytes())
}

// Trust gives the files that must be written before nginx reads this one.
func (f *File) Trust() []TrustFile { return f.trust }

// Origin says who wrote a line, from 1 as nginx counts them; false for a line
// that is not there.
func (f *File) Origin(line int) (Origin, bool) {
	at := int32(line - 1)
	if line < 1 || at >= f.lines {
		return Origin{}, false
	}
	i := sort.Search(len(f.starts), func(i int) bool { return f.starts[i] > at }) - 1
	return f.chunks[i].origin(at - f.starts[i]), true
}

func (c *chunk) origin(line int32) Origin {
	i := sort.Search(len(c.marks), func(i int) bool { return c.marks[i].line > line }) - 1
	if i < 0 {
		return Origin{}
	}
	return c.origins[c.marks[i].origin]
}

// Span is consecutive lines, from 1, of one origin.
type Span struct {
	First int `json:"first"`
	Last  int `json:"last"`
	Origin
}

// SourceMap says of all lines who wrote them, in order and without gaps.
func (f *File) SourceMap() []Span {
	var spans []Span
	for i, c := range f.chunks {
		if len(c.marks) == 0 || c.marks[0].line > 0 {
			spans = extend(spans, int(f.starts[i]), Origin{})
		}
		for _, m := range c.marks {
			spans = extend(spans, int(f.starts[i]+m.line), c.origins[m.origin])
		}
	}
	if n := len(spans); n > 0 {
		spans[n-1].Last = int(f.lines)
	}
	return spans
}

// extend starts a span at a line, from 0, if its origin is another one.
func extend(spans []Span, line int, o Origin) []Span {
	if n := len(spans); n > 0 {
		if spans[n-1].Origin == o {
			return spans
		}
		spans[n-1].Last = line
	}
	return append(spans, Span{First: line + 1, Origin: o})
}
