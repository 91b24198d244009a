package chart

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// page is what docs/reference/values.md begins with.
const page = `# Values of the chart

What [charts/sluice](../../charts/sluice) takes, written by ` + "`make golden`" + ` from the comments of its values.yaml. Names and defaults are those of
ingress-nginx's chart 4.15, [but for these](#other-defaults); so a file of values made for that chart is taken as it is. A name that neither chart has
is refused, with the one that was probably meant. What is [without effect](#without-effect) in Sluice is told after ` + "`helm install`" + `, with the reason, if something was asked for by it; and what it
would be unsafe to leave out is refused with a message. [test/chart/testdata/effects.txt](../../test/chart/testdata/effects.txt) shows of each value what
it changes in what is rendered.

` + "`[]`, `{}` and `\"\"`" + ` are empty; a value without a default is not set. [../install.md](../install.md) says how to install with them.

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
	fresh(t, "docs/reference/values.md", text.String())
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
	text.WriteString("## Without effect\n\nThese are taken, with all that is below them, and do nothing.\n\n| value | why |\n|---|---|\n")
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
	text.WriteString("## Flags without effect\n\n`controller.extraArgs` takes each flag of `sluice run`. Of those that only ingress-nginx has, these are left out:\n\n| flag | why |\n|---|---|\n")
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
