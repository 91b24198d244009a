// Package chart tests charts/sluice by Helm's own modules: what it renders for seven
// sets of values, what each value does, and that the files that are made of it are
// fresh. `make golden` writes the expectations, and `make manifests` the files of
// deploy/.
package chart

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/keys"
	"sluice/internal/settings"
	"sluice/test/chart/rendering"
)

var update = flag.Bool("update", false, "write the files that are made of the chart anew")

// fresh compares a file of the repository with what it is to be, or writes it.
func fresh(t *testing.T, path, want string) {
	t.Helper()
	file := filepath.Join(rendering.Root(), filepath.FromSlash(path))
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(string(got), "\n")); diff != "" {
		t.Errorf("%s is stale; `make golden` writes it, and `make manifests` those of deploy and test/cluster (-wanted +file):\n%s", path, diff)
	}
}

// The files that are part of the chart are made first, in this file, so that what is
// rendered goes by the new ones where all are written anew.

// TestSchemaIsFresh: values.schema.json is what values.yaml says.
func TestSchemaIsFresh(t *testing.T) {
	fresh(t, "charts/sluice/values.schema.json", wantedSchema(t))
}

// TestNamesAreFresh: names.yaml has the names of all values.
func TestNamesAreFresh(t *testing.T) {
	fresh(t, "charts/sluice/names.yaml", wantedNames(t))
}

// settingsHeader is what settings.yaml begins with.
const settingsHeader = `# The settings that controller.config may have, for the notes and for what is refused;
# ` + "`make golden`" + ` writes them from what Sluice knows. docs/reference/configmap.md says what each does.

# Those that Sluice reads.
read:
`

// TestSettingsAreFresh: charts/sluice/settings.yaml is what Sluice reads, and what it
// knows and does not read.
func TestSettingsAreFresh(t *testing.T) {
	var text strings.Builder
	text.WriteString(settingsHeader)
	var names []string
	for _, doc := range keys.Describe(settings.Settings{}) {
		names = append(append(names, doc.Key), doc.Aliases...)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&text, "  - %s\n", name)
	}
	unread, needless := map[keys.Fate]string{}, ""
	for _, k := range settings.Unsupported() {
		switch {
		case k.Instead != "":
			needless += fmt.Sprintf("  %s: '%s'\n", k.Key, k.Instead)
		case k.Fate == keys.Idle:
			unread[k.Fate] += fmt.Sprintf("  - %s\n", k.Key)
		default:
			unread[k.Fate] += fmt.Sprintf("  %s: [\"%s\"]\n", k.Key, strings.Join(k.OffValues(), `", "`))
		}
	}
	text.WriteString("# Those of ingress-nginx that it does without, each with the reason.\nneedless:" + mapOf(needless))
	text.WriteString("# Those of ingress-nginx that it does not read yet, with the values that ask for nothing.\nunread:" + mapOf(unread[keys.Reported]))
	text.WriteString("# Those that have no effect in ingress-nginx either.\nidle:\n" + unread[keys.Idle])
	text.WriteString("# Those that it does not read yet and that keep requests out: with any value but these,\n# every path answers 503.\nprotecting:" + mapOf(unread[keys.Denied]))
	text.WriteString(validSettings(t))
	fresh(t, "charts/sluice/settings.yaml", text.String())
}

// mapOf is a map of YAML that may have no lines.
func mapOf(lines string) string {
	if lines == "" {
		return " {}\n"
	}
	return "\n" + lines
}

// patternOf is the pattern of a setting: its own one, or that of its type.
func patternOf(doc keys.Doc) string {
	if own, is := validPatterns[doc.Key]; is {
		return own
	}
	return validPatterns[doc.Type]
}

// validPatterns are of the values of a type, or of one setting, in Helm's regular expressions. What they
// refuse Sluice refuses too; besides it refuses 255.255.255.255, which is nobody's.
var validPatterns = map[string]string{
	"annotation lines":                "(?s)^[^\\x00-\\x09\\x0b-\\x1f\\x7f]*$",
	"annotation-value-word-blocklist": `(?s)^(|.*[^,\s].*)$`, // any words
	"snippet":                         `(?s)^(|.*[;}]|.*#.*)$`,
	"rules":                           `(?s)^(|.*Sec[A-Z].*)$`,
	"bool":                            `^(|1|t|T|TRUE|true|True|0|f|F|FALSE|false|False|(?i:OFF))$`,
	"cidr list":                       `^(|[\s,]*(ADDRESS)(\s*,[\s,]*(ADDRESS))*[\s,]*)$`,
	"list":                            `^(|[\s,]*(IP)(\s*,[\s,]*(IP))*[\s,]*)$`, // of bind-address
	"header lines":                    `(?s)^(|[A-Za-z0-9-]{1,46}\s*:.*)$`,
	"texts and patterns":              `(?s)^(|.*[^,\s].*)$`,
	"certificates":                    `(?s)^(|.*-----BEGIN CERTIFICATE-----.*-----END CERTIFICATE-----.*)$`,
}

// address is the pattern of an address of IPv4 or IPv6, each with the pattern of the size of a
// network behind it. In IPv6, "::"
// stands for one group or more, and the last two can be written as IPv4.
func address(network4, network6 string) string {
	const group, octet = `[0-9A-Fa-f]{1,4}`, `(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])`
	const ipv4 = octet + `(\.` + octet + `){3}`
	const two = `(` + group + `:` + group + `|` + ipv4 + `)`
	const ipv6 = `(` + group + `:){6}` + two + `|(` + group + `:){7}:|(` + group + `:){6}:(` + group + `)?`
	pattern := ipv4 + network4 + `|(` + ipv6
	for before := range 6 {
		start := fmt.Sprintf(`(%s:){%d}`, group, before)
		if before == 0 {
			start = ":"
		}
		pattern += fmt.Sprintf(`|%s:((%s:){0,%d}%s|%s)?`, start, group, 5-before, two, group)
	}
	return pattern + `)` + network6
}

// network is the pattern of an address or a network.
func network() string {
	return address(`(/(3[0-2]|[12]?[0-9]))?`, `(/(12[0-8]|1[01][0-9]|[1-9]?[0-9]))?`)
}

// validSettings are the settings that Sluice reads and that keep requests out.
func validSettings(t testing.TB) string {
	t.Helper()
	text := "# Those that it reads and that keep requests out: with a value that does not match, every\n# path answers 503; so it does by a near miss of the name, unless its value is one of `unless`.\nvalid:\n"
	for _, doc := range keys.Describe(settings.Settings{}) {
		if !doc.Protects && !doc.Closes {
			continue
		}
		pattern := strings.NewReplacer("OFF", strings.Join(doc.Off, "|"), "ADDRESS", network(), "IP", address("", "")).Replace(patternOf(doc))
		if rule := keys.RulePattern(doc.Field.Tag.Get("validate")); rule != "" {
			pattern = "^$|" + rule
		}
		if pattern == "" {
			t.Errorf("%s: want a pattern for values of the type %s", doc.Key, doc.Type)
		}
		text += fmt.Sprintf("  %s:\n    want: '%s'\n    unless: [\"%s\"]\n    pattern: '%s'\n", doc.Key, doc.Valid, strings.Join(append([]string{""}, doc.Off...), `", "`), pattern)
	}
	return text + "# Names of annotations that are other ones of settings.\nmeant:\n  allowlist-source-range: whitelist-source-range\n"
}
