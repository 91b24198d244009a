package migrate

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"sluice/internal/model"
)

// Text writes the report for a terminal: the counts, and each Ingress with its items.
// Ingresses that are ready and have no items are a line each.
func (r *Report) Text(out io.Writer) error {
	w := &textWriter{Writer: bufio.NewWriter(out)}
	w.line("%s", r.Summary())
	for _, line := range r.Sources {
		w.line("%s", line)
	}
	for _, i := range r.Ingresses {
		w.ingress(i)
	}
	w.items("For every Ingress", r.Everywhere)
	w.items("Other objects", r.Objects)
	w.unread(r.Input)
	w.arguments("Settings", r.Settings)
	w.arguments("Flags", r.Flags)
	w.arguments("Values of the chart", r.Values)
	w.others("Served by no known controller", r.Unserved)
	if n := len(r.Others); n > 0 {
		w.line("\n%s not of this controller, by class or namespace; -o json names them with the reason.", model.Counted(n, "Ingress is", "Ingresses are"))
	}
	w.line("\n%s of docs/differences.md cannot be told from manifests; -o json lists them.", model.Counted(len(r.Untold), "row", "rows"))
	return w.Flush()
}

// Summary is "7 Ingresses: 4 ready, 1 different, 2 answer 503, 0 left out".
func (r *Report) Summary() string {
	c := r.Counts
	text := fmt.Sprintf("%s: %d ready, %d different, %d with 503, %d left out", model.Counted(len(r.Ingresses), "Ingress", "Ingresses"), c.Ready, c.Different, c.Unavailable, c.LeftOut)
	if c.Unserved > 0 {
		text += fmt.Sprintf("; %d that no known controller serves", c.Unserved)
	}
	return text
}

// textWriter writes lines. bufio remembers the first error until Flush.
type textWriter struct{ *bufio.Writer }

func (w *textWriter) line(format string, values ...any) { fmt.Fprintf(w, format+"\n", values...) }

func (w *textWriter) ingress(i Ingress) {
	w.line("\n%-9s  %s/%s%s", strings.ToUpper(string(i.Status)), i.Namespace, i.Name, i.Affected())
	for _, item := range i.Items {
		w.item(item)
	}
}

// Affected is "  (1 of 3 paths answer 503)", empty if all paths are served.
func (i Ingress) Affected() string {
	var parts []string
	if n := i.Paths.LeftOut; n > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s left out", n, model.Counted(i.Paths.All, "path", "paths")))
	}
	if n := i.Paths.Unavailable; n > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s with 503", n, model.Counted(i.Paths.All, "path", "paths")))
	}
	if len(parts) == 0 {
		return ""
	}
	return "  (" + strings.Join(parts, ", ") + ")"
}

func (w *textWriter) items(heading string, items []Item) {
	if len(items) == 0 {
		return
	}
	w.line("\n%s:", heading)
	for _, item := range items {
		w.item(item)
	}
}

// unread writes what could not be read, with the file and the line.
func (w *textWriter) unread(items []Item) {
	if len(items) == 0 {
		return
	}
	w.line("\nNot read:")
	for _, item := range items {
		place := ""
		if item.File != "" {
			place = fmt.Sprintf("%s:%d: ", item.File, max(item.Line, 1))
		}
		w.itemAt(place, item)
	}
}

// others writes Ingresses that this controller does not serve.
func (w *textWriter) others(heading string, all []Other) {
	if len(all) == 0 {
		return
	}
	w.line("\n%s:", heading)
	for _, o := range all {
		w.line("  %s/%s: %s", o.Namespace, o.Name, o.Text)
	}
}

func (w *textWriter) item(item Item) { w.itemAt("", item) }

func (w *textWriter) itemAt(place string, item Item) {
	where := ""
	if item.Object.Kind != "" && item.Object.Kind != "Ingress" {
		where = strings.TrimSpace(item.Object.String()) + ": "
	}
	if item.Field != "" {
		where += item.Field + ": "
	}
	w.line("  %s%s: %s%s", place, item.Status, where, item.Text)
	for _, line := range item.Instead {
		w.line("      %s", line)
	}
	if item.Remedy != "" {
		w.line("    do: %s", item.Remedy)
	}
	if item.Difference != nil {
		w.line("    see: %s (%s)", item.Difference.Page, item.Difference.ID)
	}
}

// arguments writes those that are not kept or have a note, and how many are kept.
func (w *textWriter) arguments(heading string, all []Argument) {
	if len(all) == 0 {
		return
	}
	kept := 0
	w.line("\n%s:", heading)
	for _, a := range all {
		if a.Fate == Kept {
			kept++
		}
		if a.Fate == Kept && a.Text == "" {
			continue
		}
		w.line("  %s: %s: %s", a.Fate, a.Name, a.Text)
	}
	w.line("  kept: %d", kept)
}
