// Package markdown wraps the prose of Markdown, for the generators of pages and for
// the test that holds every page of the repository to it.
package markdown

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// Width is the longest line of prose, in characters.
const Width = 100

var (
	fenceLine  = regexp.MustCompile("^ *(```+|~~~+)")
	listMarker = regexp.MustCompile(`^ *([-*+]|\d{1,9}[.)]) +`)
	// verbatimLine is a heading, a row of a table, HTML or a link definition.
	verbatimLine = regexp.MustCompile(`^ {0,3}(#{1,6} |\||<|\[[^\]]+\]: )`)
	indentedCode = regexp.MustCompile(`^( {4}|\t)`)
	// startsBlock is a word that would begin a list, a heading, a quote, a table, a
	// rule or HTML if it were the first of a line.
	startsBlock = regexp.MustCompile("^([-+*]|#{1,6}|\\d{1,9}[.)]|-{2,}|=+|\\*{3,}|_{3,})$|^(>|\\||```|~~~|<)")
)

// Wrap breaks the lines of text that are longer than Width, and returns text with
// these paragraphs filled anew. Rendered, both are the same. Code, tables, headings,
// HTML comments and link definitions keep their lines. A line stays longer than Width
// if it has no space outside of code spans and links.
func Wrap(text string) string {
	w := &wrapper{}
	for line := range strings.SplitSeq(text, "\n") {
		w.line(line)
	}
	w.endParagraph()
	return strings.Join(w.out, "\n")
}

// wrapper goes through a page line by line.
type wrapper struct {
	out       []string
	paragraph []string // the lines of the paragraph so far
	indent    string   // before the second line of the paragraph, and each that follows

	fence     string // the marker of the code block that is open, or ""
	inComment bool
	inList    bool
}

func (w *wrapper) line(line string) {
	switch {
	case w.fence != "":
		w.keep(line)
		if strings.HasPrefix(strings.TrimSpace(line), w.fence) {
			w.fence = ""
		}
	case w.inComment:
		w.keep(line)
		w.inComment = !strings.Contains(line, "-->")
	case fenceLine.MatchString(line):
		w.keep(line)
		w.fence = fenceLine.FindStringSubmatch(line)[1]
	case strings.HasPrefix(strings.TrimSpace(line), "<!--"):
		w.keep(line)
		w.inComment = !strings.Contains(line, "-->")
	case strings.TrimSpace(line) == "":
		w.keep(line)
	default:
		w.prose(line)
	}
}

// keep ends the paragraph and leaves a line alone.
func (w *wrapper) keep(line string) {
	w.endParagraph()
	w.out = append(w.out, line)
}

// prose takes a line that is part of a paragraph, of a list, of a table or a heading.
func (w *wrapper) prose(line string) {
	if marker := listMarker.FindString(line); marker != "" {
		w.endParagraph()
		w.inList = true
		w.begin(line, strings.Repeat(" ", len(marker)))
		return
	}
	if len(w.paragraph) > 0 {
		w.paragraph = append(w.paragraph, line)
		w.endAtHardBreak(line)
		return
	}
	w.inList = w.inList && strings.HasPrefix(line, " ")
	if verbatimLine.MatchString(line) || !w.inList && indentedCode.MatchString(line) {
		w.keep(line)
		return
	}
	w.begin(line, line[:len(line)-len(strings.TrimLeft(line, " "))])
}

func (w *wrapper) begin(line, indent string) {
	w.paragraph, w.indent = []string{line}, indent
	w.endAtHardBreak(line)
}

// endAtHardBreak keeps what follows a line break that is shown on a line of its own.
func (w *wrapper) endAtHardBreak(line string) {
	if strings.HasSuffix(line, "  ") || strings.HasSuffix(line, `\`) {
		w.endParagraph()
	}
}

func (w *wrapper) endParagraph() {
	lines := w.paragraph
	for _, line := range w.paragraph {
		if utf8.RuneCountInString(line) > Width {
			lines = w.fill()
			break
		}
	}
	w.out = append(w.out, lines...)
	w.paragraph = nil
}

// fill puts as many words of the paragraph on each line as fit.
func (w *wrapper) fill() []string {
	first := w.paragraph[0]
	start := first[:len(first)-len(strings.TrimLeft(first, " "))]
	if marker := listMarker.FindString(first); marker != "" {
		start = marker
	}
	last := w.paragraph[len(w.paragraph)-1]
	hardBreak := last[len(strings.TrimRight(last, " ")):]
	var lines []string
	line := start
	for i, word := range words(strings.Join(w.paragraph, "\n")[len(start):]) {
		switch {
		case i == 0:
			line += word
		case utf8.RuneCountInString(line+" "+word) <= Width || startsBlock.MatchString(word):
			line += " " + word
		default:
			lines = append(lines, line)
			line = w.indent + word
		}
	}
	return append(lines, line+hardBreak)
}
