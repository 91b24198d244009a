package decode

import (
	"bytes"
	"encoding/json"
	"errors"
)

// document is one document of a file.
type document struct {
	number int // from 1; documents without content have none
	line   int // the line of the file where text begins, from 1
	text   []byte
}

// contentLine returns the line of the file where the content begins, after comments.
func (d document) contentLine() int {
	line := d.line
	for text := range bytes.Lines(d.text) {
		text = bytes.TrimRight(text, " \t\n")
		if hasContent(bytes.TrimLeft(text, " \t")) && text[0] != '%' && !bytes.Equal(text, []byte("---")) {
			return line
		}
		line++
	}
	return d.line
}

// documents splits a file at its document markers: "---" or "..." at the start
// of a line, followed by a space, a tab or the end of the line. YAML allows no
// such line within a document, not even within quotes, so no scalar is cut.
// Source: https://yaml.org/spec/1.2.2/#912-document-markers
func documents(data []byte) []document {
	s := splitter{data: oneLineBreak(bytes.TrimPrefix(data, []byte("\ufeff")))}
	for start := 0; start < len(s.data); {
		end := len(s.data)
		if i := bytes.IndexByte(s.data[start:], '\n'); i >= 0 {
			end = start + i + 1
		}
		s.line++
		// Once there is content, only a marker matters.
		if first := s.data[start]; !s.content || first == '-' || first == '.' {
			s.take(start, end)
		}
		start = end
	}
	s.end(len(s.data))
	return s.found
}

// oneLineBreak replaces CR LF and CR with line feeds, as a YAML parser does.
func oneLineBreak(data []byte) []byte {
	if bytes.IndexByte(data, '\r') < 0 {
		return data
	}
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(data, []byte("\r"), []byte("\n"))
}

// splitter is the state of a split.
type splitter struct {
	data  []byte
	found []document
	line  int // the number of the last line

	// The current document: its offset and line, whether it has more than comments and
	// directives, and whether it has directives.
	start, startLine int
	content          bool
	directives       bool
}

// take processes the line data[start:end].
func (s *splitter) take(start, end int) {
	line := bytes.TrimRight(s.data[start:end], " \t\n")
	switch {
	case isMarker(line, "..."):
		s.end(start)
		s.begin(end, s.line+1)
	case isMarker(line, "---"):
		s.mark(start, end, hasContent(bytes.TrimLeft(line[3:], " \t")))
	case !hasContent(bytes.TrimLeft(line, " \t")):
	case line[0] == '%' && !s.content:
		s.directives = true
	default:
		s.content = true
	}
}

// mark processes the line data[start:end], which begins with "---". content is set if
// content follows on that line; otherwise the line is not part of a document.
func (s *splitter) mark(start, end int, content bool) {
	switch {
	case s.directives && !s.content:
		s.directives = false // the directives belong to the document that begins here
	case content:
		s.end(start)
		s.begin(start, s.line)
	default:
		s.end(start)
		s.begin(end, s.line+1)
	}
	s.content = content
}

func (s *splitter) begin(offset, line int) {
	s.start, s.startLine = offset, line
	s.content, s.directives = false, false
}

// end ends the current document before the offset.
func (s *splitter) end(offset int) {
	if s.content {
		s.stream(max(s.startLine, 1), s.data[s.start:offset])
	}
}

// stream adds a text as a document. If the text is several JSON objects in a row, as jq
// prints them, each is a document. A broken object ends where the next good one begins.
func (s *splitter) stream(line int, text []byte) {
	for beginsObject(text) {
		end, _ := firstObject(text)
		if end == 0 {
			end = nextObject(text)
		}
		if end == 0 || !beginsObject(text[end:]) {
			break
		}
		s.add(line, text[:end])
		line, text = line+bytes.Count(text[:end], []byte("\n")), text[end:]
	}
	s.add(line, text)
}

// firstObject returns the end of the JSON value at the start of a text. If the value is
// broken, end is 0, and mistake is the offset of the mistake.
func firstObject(text []byte) (end, mistake int) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	err := decoder.Decode(new(json.RawMessage))
	if err == nil {
		return int(decoder.InputOffset()), 0
	}
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		return 0, int(syntax.Offset)
	}
	return 0, len(text)
}

// nextObject returns the start of the next JSON object in a text that begins with a
// broken one; 0 if there is none, or if the text is YAML. The object must begin a line,
// and only objects may follow it, so that it is no part of another object.
func nextObject(text []byte) int {
	if _, err := parse(text); err == nil {
		return 0
	}
	_, mistake := firstObject(text)
	for from := mistake; ; {
		from = max(from-2, 0) // the mistake can be the brace of the next object
		i := bytes.Index(text[from:], []byte("\n{"))
		if i < 0 {
			return 0
		}
		at := from + i + 1
		end, mistake := firstObject(text[at:])
		if rest := text[at+end:]; end > 0 && (beginsObject(rest) || len(bytes.TrimSpace(rest)) == 0) {
			return at
		}
		from = at + max(end+2, mistake)
	}
}

// beginsObject reports whether a text begins as an object in JSON does.
func beginsObject(text []byte) bool {
	text = bytes.TrimLeft(text, " \t\n")
	return len(text) > 0 && text[0] == '{'
}

func (s *splitter) add(line int, text []byte) {
	s.found = append(s.found, document{number: len(s.found) + 1, line: line, text: text})
}

// isMarker reports whether a line without trailing space begins with the marker, followed
// by a space, a tab or nothing.
func isMarker(line []byte, marker string) bool {
	return bytes.HasPrefix(line, []byte(marker)) && (len(line) == 3 || line[3] == ' ' || line[3] == '\t')
}

// hasContent reports whether a trimmed line is neither empty nor a comment.
func hasContent(line []byte) bool { return len(line) > 0 && line[0] != '#' }
