package migrate

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
)

// heading is the first line of the table.
var heading = []string{"namespace", "ingress", "status", "paths", "paths503", "pathsLeftOut", "itemStatus", "field", "reason", "text", "remedy", "instead", "difference", "page", "file", "line"}

// unserved stands in the column of the status for an Ingress that no known controller serves.
const unserved Status = "unserved"

// CSV writes a line for each item of each Ingress, and one for an Ingress without items or
// that no known controller serves.
func (r *Report) CSV(out io.Writer) error {
	w := csv.NewWriter(out)
	_ = w.Write(heading) // Error returns the first error
	for _, i := range r.Ingresses {
		items := i.Items
		if len(items) == 0 {
			items = []Item{{}}
		}
		for _, item := range items {
			_ = w.Write(record(i, item))
		}
	}
	for _, o := range r.Unserved {
		_ = w.Write(record(Ingress{Namespace: o.Namespace, Name: o.Name, Status: unserved}, Item{Text: o.Text}))
	}
	w.Flush()
	return w.Error()
}

func record(i Ingress, item Item) []string {
	d := item.Difference
	if d == nil {
		d = &Difference{}
	}
	line := ""
	if i.Line > 0 {
		line = strconv.Itoa(i.Line)
	}
	cells := []string{
		i.Namespace, i.Name, string(i.Status), strconv.Itoa(i.Paths.All), strconv.Itoa(i.Paths.Unavailable), strconv.Itoa(i.Paths.LeftOut),
		string(item.Status), item.Field, string(item.Reason), item.Text, item.Remedy, strings.Join(item.Instead, "\n"), d.ID, d.Page, i.File, line,
	}
	for at, cell := range cells {
		cells[at] = inert(cell)
	}
	return cells
}

// inert keeps a spreadsheet from reading a cell as a formula.
func inert(cell string) string {
	if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
		return "'" + cell
	}
	return cell
}
