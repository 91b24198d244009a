package plugin

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"sigs.k8s.io/yaml"

	"sluice/internal/model"
)

// The formats of -o.
const (
	asTable    = "table"
	asWide     = "wide"
	asJSON     = "json"
	asYAML     = "yaml"
	asName     = "name"
	asText     = "text"
	asMarkdown = "markdown"
	asPEM      = "pem"
)

// format is the flag -o of a command, which accepts some of the formats.
type format struct {
	chosen string
	valid  []string
}

// addFormat adds the flag -o. The first format is the default.
func addFormat(cmd *cobra.Command, valid ...string) *format {
	f := &format{chosen: valid[0], valid: valid}
	cmd.Flags().VarP(f, "output", "o", model.OneOf(valid))
	mustComplete(cmd, "output", cobra.FixedCompletions(valid, cobra.ShellCompDirectiveNoFileComp))
	return f
}

func (f *format) String() string { return f.chosen }

func (f *format) Type() string { return "format" }

func (f *format) Set(text string) error {
	if !slices.Contains(f.valid, text) {
		return fmt.Errorf("want %s (got %q)", model.OneOf(f.valid), text)
	}
	f.chosen = text
	return nil
}

// colour is the colour of a cell on a terminal.
type colour string

const (
	plain  colour = ""
	bold   colour = "1"
	red    colour = "31"
	green  colour = "32"
	yellow colour = "33"
)

// output prints the results of a command.
type output struct {
	io.Writer
	format string
	// colours is set if the output is a terminal that may show colours.
	colours bool
}

// output returns the standard output. A terminal gets no control characters except
// those of colours.
func (s *session) output(format string) output {
	o := output{Writer: s.streams.Out, format: format}
	if isTerminal(s.streams.Out) {
		o.Writer = harmless{s.streams.Out}
		o.colours = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	}
	return o
}

func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// cell is one field of a table.
type cell struct {
	text   string
	colour colour
}

// cells returns fields without colour.
func cells(texts ...string) []cell {
	row := make([]cell, len(texts))
	for i, text := range texts {
		row[i] = cell{text: text}
	}
	return row
}

// table is a heading and rows with the same number of cells.
type table struct {
	heading []string
	rows    [][]cell
	// wide is the number of last columns that only -o wide shows.
	wide int
	// continues is set for further rows of a table, which need no heading. widths are the
	// least widths of columns; nil for any.
	continues bool
	widths    []int
	// matched and total are set for a part of nginx.conf: the number of lines that the
	// controller found, and of all lines.
	matched, total int
}

// mostCell limits a cell of a table; the longest names fit.
const mostCell = 1600

// table prints a table with aligned columns, three blanks apart like kubectl. Each
// cell becomes one printable line.
func (o output) table(t table) error {
	_, err := o.rows(t)
	return err
}

// rows prints a table and returns the widths of its columns.
func (o output) rows(t table) (widths []int, err error) {
	count := len(t.heading)
	if o.format != asWide {
		count -= t.wide
	}
	head := cells(t.heading...)
	for i := range head {
		head[i].colour = bold
	}
	widths = make([]int, count)
	copy(widths, t.widths)
	rows := t.rows
	if !t.continues {
		rows = append([][]cell{head}, t.rows...)
	}
	for _, row := range rows {
		for i := range widths {
			row[i].text = model.OneLine(row[i].text, mostCell)
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i].text))
		}
	}
	var text strings.Builder
	for _, row := range rows {
		blanks := 0
		for i, one := range row[:count] {
			if one.text != "" {
				text.WriteString(strings.Repeat(" ", blanks) + o.paint(one.text, one.colour))
				blanks = 0
			}
			blanks += widths[i] - utf8.RuneCountInString(one.text) + 3
		}
		text.WriteByte('\n')
	}
	return widths, o.painted(text.String())
}

// painted prints a text of our own, whose colours must not be escaped.
func (o output) painted(text string) error {
	w := o.Writer
	if filter, ok := w.(harmless); ok && o.colours {
		w = filter.Writer
	}
	_, err := io.WriteString(w, text)
	return err
}

func (o output) paint(text string, c colour) string {
	if !o.colours || c == plain {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}

// lines prints one text for each line.
func (o output) lines(texts []string) error {
	for _, text := range texts {
		if _, err := fmt.Fprintln(o, model.OneLine(text, mostCell)); err != nil {
			return err
		}
	}
	return nil
}

// names prints "kind/name" for each object, without duplicates. Objects of different
// namespaces can have the same name.
func (o output) names(objects []model.ObjectRef) error {
	slices.SortFunc(objects, func(a, b model.ObjectRef) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
	})
	var texts []string
	for _, object := range slices.Compact(objects) {
		texts = append(texts, strings.ToLower(object.Kind)+"/"+object.Name)
	}
	return o.lines(texts)
}

// document prints the received JSON as JSON or YAML, including fields of newer
// controllers.
func (o output) document(body []byte) error {
	if o.format == asYAML {
		text, err := yaml.JSONToYAML(body)
		if err != nil {
			return fmt.Errorf("read the answer of the controller: %w", err)
		}
		_, err = o.Write(text)
		return err
	}
	var text bytes.Buffer
	if err := json.Indent(&text, bytes.TrimSpace(body), "", "  "); err != nil {
		return fmt.Errorf("read the answer of the controller: %w", err)
	}
	text.WriteByte('\n')
	_, err := o.Write(text.Bytes())
	return err
}

// value prints a value of ours as JSON or YAML.
func (o output) value(value any) error {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	return o.document(body.Bytes())
}

// isDocument reports whether the format is JSON or YAML.
func (o output) isDocument() bool { return o.format == asJSON || o.format == asYAML }

// decode reads an answer of the controller.
func decode[T any](body []byte) (T, error) {
	var value T
	if err := json.Unmarshal(body, &value); err != nil {
		return value, fmt.Errorf("read the answer of the controller, which may be of another version: %w", err)
	}
	return value, nil
}

// harmless escapes everything that could control a terminal.
type harmless struct{ io.Writer }

func (h harmless) Write(text []byte) (int, error) {
	_, err := io.WriteString(h.Writer, model.Lines(string(text)))
	return len(text), err
}
