// Package pages reads the pages of the documentation: in goes Markdown, and out come the fenced
// blocks with the commands in them, and with what comments say about them.
package pages

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Page is a page of the documentation, as far as there is something in it to run.
type Page struct {
	// Path is relative to the root of the checkout.
	Path   string
	Blocks []Block
}

// Block is one fenced block of a page.
type Block struct {
	Line     int // of the first line of its text
	Language string
	Text     string
	Marks    Marks
}

// Fault is what is wrong with a page, or with what it says.
type Fault struct {
	Path string
	Line int
	Text string
}

func (f Fault) String() string { return fmt.Sprintf("%s:%d: %s", f.Path, f.Line, f.Text) }

// languages are those that a block may have, each with a way to hold it to what
// is true.
var languages = []string{"sh", "console", "yaml", "nginx", "json", "text"}

var (
	fence    = regexp.MustCompile("^( *)(```+|~~~+) *([^ `]*)")
	comment  = regexp.MustCompile(`^ *<!-- (.*) -->$`)
	listItem = regexp.MustCompile(`^ *([-*+]|\d+[.)]) `)
	indented = regexp.MustCompile(`^( {4}|\t)`)
)

// parser goes through a page line by line.
type parser struct {
	page   Page
	faults []Fault
	lines  []string
	at     int // the index of the line that is looked at

	// marks are those of the comments just before this line.
	marks Marks
	// list says that this line may be indented because it is part of a list.
	list bool
}

// Parse finds the blocks of a page, and what cannot be held to anything: blocks
// without a language, blocks that are only indented, and marks of no block.
func Parse(path, text string) (*Page, []Fault) {
	p := &parser{page: Page{Path: path}, lines: strings.Split(text, "\n")}
	for ; p.at < len(p.lines); p.at++ {
		line := p.lines[p.at]
		if opening := fence.FindStringSubmatch(line); opening != nil {
			p.block(opening)
			continue
		}
		if said := comment.FindStringSubmatch(line); said != nil && p.mark(said[1]) {
			continue
		}
		p.endMarks()
		p.prose(line)
	}
	p.endMarks()
	return &p.page, p.faults
}

// mark takes what a comment says about the block that follows; any other
// comment is none of ours.
func (p *parser) mark(said string) bool {
	known, err := p.marks.add(said)
	if err != nil {
		p.fault(p.at, "the comment %q: %v", said, err)
	}
	return known
}

func (p *parser) endMarks() {
	if p.marks.any() {
		p.fault(p.at-1, "no block follows the comment")
	}
	p.marks = Marks{}
}

func (p *parser) prose(line string) {
	blank := strings.TrimSpace(line) == ""
	switch {
	case listItem.MatchString(line):
		p.list = true
	case !blank && !strings.HasPrefix(line, " "):
		p.list = false
	}
	afterBlank := p.at == 0 || strings.TrimSpace(p.lines[p.at-1]) == ""
	if !p.list && !blank && afterBlank && indented.MatchString(line) {
		p.fault(p.at, "a block that is only indented: fence it, with one of %s", strings.Join(languages, ", "))
	}
}

// block reads up to the fence that closes it.
func (p *parser) block(opening []string) {
	indentation, marker, language := opening[1], opening[2], opening[3]
	b := Block{Line: p.at + 2, Language: language, Marks: p.marks}
	p.marks = Marks{}
	if !slices.Contains(languages, language) {
		p.fault(p.at, "a block of the language %q: want one of %s", language, strings.Join(languages, ", "))
	}
	if err := b.Marks.fit(language); err != nil {
		p.fault(p.at, "%v", err)
	}
	var text []string
	for p.at++; p.at < len(p.lines); p.at++ {
		line := strings.TrimPrefix(p.lines[p.at], indentation)
		if strings.HasPrefix(line, marker) {
			b.Text = strings.Join(text, "\n")
			p.page.Blocks = append(p.page.Blocks, b)
			return
		}
		text = append(text, line)
	}
	p.fault(b.Line-2, "the block is never closed")
}

func (p *parser) fault(line int, format string, arguments ...any) {
	p.faults = append(p.faults, Fault{Path: p.page.Path, Line: line + 1, Text: fmt.Sprintf(format, arguments...)})
}
