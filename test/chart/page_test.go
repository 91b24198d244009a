package chart

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"sluice/test/markdown"
)

// page is what docs/reference/values.md begins with.
const page = `# Values of the chart

These are the values of [charts/sluice](../../charts/sluice). ` + "`make golden`" + ` writes this page from the
comments in its values.yaml. Names and defaults are those of ingress-nginx's chart 4.15,
[but for these](#other-defaults), so you can use a file of values that was made for that chart.

- Helm refuses a value that neither chart has, and names the one that you probably meant.
- Helm refuses what would be less safe if it were left out, or would not work, and says what to do.
- After ` + "`helm install`" + ` Helm lists the values that you gave and that have [no effect](#without-effect),
  with the reason.

[test/chart/testdata/effects.txt](../../test/chart/testdata/effects.txt) shows what each value changes
in the rendered objects. [../install.md](../install.md) says how to install with values.

` + "`[]`, `{}` and `\"\"`" + ` are empty. A value without a default is not set.

`

// TestPageIsFresh: docs/reference/values.md is what values.yaml says.
func TestPageIsFresh(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	text.WriteString(page)
	rows, sections := map[string]string{}, []string{}
	for _, v := range readValues(t).leaves() {
		section := sectionOf(v.path)
		if rows[section] == "" {
			sections = append(sections, section)
		}
		rows[section] += fmt.Sprintf("| `%s` | %s | %s |\n", v.name(), initialCell(v), cell(v.doc+kindCell(v)))
	}
	for _, section := range sections {
		fmt.Fprintf(&text, "## %s\n\n| value | default | what it does |\n|---|---|---|\n%s\n", section, rows[section])
	}
	writeUnused(t, &text)
	writeFlags(t, &text)
	text.WriteString("## Other defaults\n\n| value | ingress-nginx | Sluice | why |\n|---|---|---|---|\n")
	initial := map[string]string{}
	for _, k := range knownValues(t) {
		initial[k.key] = k.initial
	}
	for _, key := range slices.Sorted(maps.Keys(otherDefaults)) {
		fmt.Fprintf(&text, "| `%s` | %s | %s | %s |\n", key, code(initial[key]), code(otherDefaults[key].ours), otherDefaults[key].reason)
	}
	fresh(t, "docs/reference/values.md", markdown.Wrap(text.String()))
}

// sectionOf is the heading that a value is below.
func sectionOf(path []string) string {
	switch {
	case len(path) == 1:
		return "At the top"
	case path[0] == "controller" && slices.Contains([]string{"image", "service", "metrics", "autoscaling", "keda", "ingressClassResource"}, path[1]):
		return "controller." + path[1]
	}
	return path[0]
}

func writeUnused(t testing.TB, text *strings.Builder) {
	t.Helper()
	text.WriteString("## Without effect\n\nThe chart takes these, with everything below them, and ignores them.\n\n| value | why |\n|---|---|\n")
	for _, group := range readUnused(t) {
		for _, name := range slices.Sorted(maps.Keys(group.Values)) {
			fmt.Fprintf(text, "| `%s` | %s |\n", name, cell(group.Reason))
		}
	}
	text.WriteString("\n")
}

func writeFlags(t testing.TB, text *strings.Builder) {
	t.Helper()
	f := readFlags(t)
	text.WriteString("## Flags without effect\n\n`controller.extraArgs` takes each flag of `sluice run`. The chart leaves out these, which only ingress-nginx has:\n\n| flag | why |\n|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(f.WithoutEffect)) {
		fmt.Fprintf(text, "| `%s` | %s |\n", name, cell(f.WithoutEffect[name]))
	}
	text.WriteString("\n")
}

// initialCell is the default in a table.
func initialCell(v *value) string {
	if v.initial == nil {
		return ""
	}
	content, err := json.Marshal(v.initial)
	if err != nil {
		return err.Error()
	}
	return code(string(content))
}

// kindCell is what the default does not say of a value's type.
func kindCell(v *value) string {
	if list, is := strings.CutPrefix(v.kind, "enum "); is {
		var all []string
		for one := range strings.SplitSeq(list, ",") {
			if one = strings.TrimSpace(one); one != "" {
				all = append(all, "`"+one+"`")
			}
		}
		return " One of " + strings.Join(all, ", ") + "."
	}
	return ""
}

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + strings.ReplaceAll(text, "|", "\\|") + "`"
}

// cell is text in a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }
