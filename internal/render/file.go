package render

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"slices"
)

// File is a finished nginx.conf. It never changes, and shares the text of unchanged
// servers with earlier files.
type File struct {
	chunks []*chunk
	lines  int32
	length int
	trust  []TrustFile
	// printed are its servers with their text.
	printed printed
}

// aroundServers is roughly the number of chunks of a file besides its servers.
const aroundServers = 16

// newFile returns an empty file with room for the chunks of some servers.
func newFile(servers int) *File {
	return &File{chunks: make([]*chunk, 0, servers+aroundServers)}
}

func (f *File) add(c *chunk) {
	if len(c.text) == 0 {
		return
	}
	f.chunks = append(f.chunks, c)
	f.lines += c.lines
	f.length += len(c.text)
}

// Len is the size in bytes.
func (f *File) Len() int { return f.length }

// Bytes returns the whole text; the caller owns it.
func (f *File) Bytes() []byte {
	all := make([]byte, 0, f.length)
	for _, c := range f.chunks {
		all = append(all, c.text...)
	}
	return all
}

// writeSize is the size of a write in bytes. A chunk is much smaller.
const writeSize = 256 << 10

// WriteTo writes the whole text.
func (f *File) WriteTo(w io.Writer) (int64, error) {
	buffer := bufio.NewWriterSize(w, min(writeSize, f.length))
	taken := 0
	for _, c := range f.chunks {
		n, _ := buffer.Write(c.text) // Flush returns the error
		taken += n
	}
	err := buffer.Flush()
	return int64(taken - buffer.Buffered()), err
}

// Hash is the SHA-256 of the text in hexadecimal.
func (f *File) Hash() string {
	sum := sha256.New()
	_, _ = f.WriteTo(sum) // a hash takes everything
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

// Trust returns the files that must exist before nginx reads this one.
func (f *File) Trust() []TrustFile { return f.trust }

// Origin returns the origin of a line, from 1 as nginx counts them; false if there is no
// such line.
func (f *File) Origin(number int) (Origin, bool) {
	for line := range f.Lines() {
		if line.Number == number {
			return line.Origin, true
		}
	}
	return Origin{}, false
}

// Span is consecutive lines, from 1, of one origin.
type Span struct {
	First int `json:"first"`
	Last  int `json:"last"`
	Origin
}

// SourceMap returns the origins of all lines, in order and without gaps.
func (f *File) SourceMap() []Span {
	var spans []Span
	for line := range f.Lines() {
		if n := len(spans); n > 0 && spans[n-1].Origin == line.Origin {
			spans[n-1].Last = line.Number
		} else {
			spans = append(spans, Span{First: line.Number, Last: line.Number, Origin: line.Origin})
		}
	}
	return spans
}
