package reference

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sluice/internal/annotations"
	"sluice/internal/keys"
	"sluice/internal/model"
	"sluice/internal/settings"
	"sluice/test/edges"
)

const written = "<!-- Written by `make golden` from the source; edit the tags there. -->\n\n"

// annotations is the page of that name.
func (b *book) annotations() string {
	p := b.page("annotation")
	p.add("# Annotations\n\n" + written)
	p.add("This page lists the annotations that Sluice reads. Their names begin with `" + prefix + "/`, those of Sluice's own with `" + annotations.OwnPrefix + "`. Values are text, so put them in quotes. An annotation applies to all paths of its Ingress, but [single paths can differ](../per-path.md).\n\n")
	p.add("- A value that is not valid disables the whole behaviour, and causes a Problem that names a valid value. If the behaviour protects paths, the paths of the Ingress return 503 until you fix the value.\n")
	p.add("- The same happens to an annotation whose risk is above the setting [annotations-risk-level](configmap.md#annotations-risk-level).\n")
	p.add("- The annotations of ingress-nginx that Sluice does not read yet are [at the end](#not-read-yet). [Differences](../differences.md) lists what differs on purpose.\n\n")
	p.index(annotationDocs())
	for _, behaviour := range annotations.All() {
		p.behaviour(behaviour)
	}
	p.unsupported(annotations.Unsupported(), annotationDocs(), map[keys.Fate]string{
		keys.Denied:   "the paths of the Ingress answer 503",
		keys.Withheld: "the Ingress is left out",
	})
	p.links()
	return p.text.String()
}

// settings is the page of the ConfigMap.
func (b *book) settings() string {
	p := b.page("setting")
	p.add("# Settings\n\n" + written)
	p.add("This page lists the settings that Sluice reads from its ConfigMap. Values are text, so put them in quotes. Keys can be in upper or lower case.\n\n")
	p.add("- If a value is not valid, its setting and those of the same group keep the values that nginx confirmed last, with a Problem that names a valid value. All other settings apply. On a new pod the setting has its default; if it restricts access, paths return 503, and the pod is not ready.\n")
	p.add("- If nginx rejects a setting, its group falls back to its last good values, or to the defaults, with a Problem. Settings that restrict access, or say who a client is, keep their values.\n")
	p.add("- An annotation overrides the setting for its Ingress.\n")
	p.add("- The settings of ingress-nginx that Sluice does not read yet are [at the end](#not-read-yet). [Differences](../differences.md) lists what differs on purpose.\n\n")
	p.index(keys.Describe(settings.Settings{}))
	for _, group := range settings.Groups() {
		p.add("## Group: " + group.Name + "\n\n" + prose(b.sentences["settings."+group.Name]) + "\n\n")
		p.keys(group.Keys)
	}
	p.unsupported(settings.Unsupported(), keys.Describe(settings.Settings{}), map[keys.Fate]string{
		keys.Denied: "every path answers 503",
	})
	p.links()
	return p.text.String()
}

// annotationDocs are the annotations of all behaviours.
func annotationDocs() []keys.Doc {
	var docs []keys.Doc
	for _, behaviour := range annotations.All() {
		docs = append(docs, behaviour.Keys...)
	}
	return docs
}

// page is one page while it is written.
type page struct {
	*book
	kind string // annotation or setting
	text strings.Builder
	// linked are the cases that are named.
	linked map[string]bool
}

func (b *book) page(kind string) *page { return &page{book: b, kind: kind, linked: map[string]bool{}} }

func (p *page) add(text string) { p.text.WriteString(text) }

// index is a table of all keys by name, aliases included.
func (p *page) index(docs []keys.Doc) {
	rows := map[string]string{}
	for _, doc := range docs {
		rows[doc.Key] = link(doc.Key, "#"+doc.Key) + " | " + cell(prose(doc.Doc))
		for _, alias := range doc.Aliases {
			rows[alias] = alias + " | an older name of " + link(doc.Key, "#"+doc.Key)
		}
	}
	p.add("| " + p.kind + " | purpose |\n|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		p.add("| " + rows[name] + " |\n")
	}
	p.add("\n")
}

func (p *page) behaviour(b annotations.Behaviour) {
	p.add("## Behaviour: " + b.Name + "\n\n" + prose(p.sentences["annotations."+b.Keys[0].Key]) + "\n\n")
	kind := "It prints directives (" + string(b.Kind) + ")"
	if b.Kind == annotations.Shaping {
		kind = "It changes hosts, paths or backends (" + string(b.Kind) + ")"
	}
	if b.Answers {
		kind += ", and answers some requests itself, before any redirect to HTTPS"
	}
	if b.Protects {
		kind += ", and it protects: while one of its values is not valid, the paths of the Ingress return 503"
	}
	p.add(kind + ".\n\n")
	if b.Scope != "" {
		p.add("It holds for a whole " + b.Scope + ", and cannot [differ by path](../per-path.md).\n\n")
	}
	p.keys(b.Keys)
}

func (p *page) keys(docs []keys.Doc) {
	for _, doc := range docs {
		p.key(doc)
	}
}

// key is the section of one key: the sentence, a value to copy, and the rest.
func (p *page) key(doc keys.Doc) {
	p.add("### " + doc.Key + "\n\n" + prose(doc.Doc) + "\n\n" + p.example(doc))
	p.item("Valid", codes(doc.Valid)+" ("+doc.Type+")")
	p.item("Default", p.byDefault(doc))
	if len(doc.Aliases) > 0 {
		p.item("Older name", "`"+strings.Join(doc.Aliases, "`, `")+"`")
	}
	if doc.Needs != "" {
		names := strings.Fields(doc.Needs)
		for i, name := range names {
			names[i] = link(name, "#"+name)
		}
		p.item("Needs", "it has no effect without "+model.OneOf(names))
	}
	if doc.Risk != keys.RiskUnranked {
		p.item("Risk", doc.Risk.String())
	}
	if doc.Allowed != "" {
		p.item("Allowed", "only where the setting "+link(doc.Allowed, "configmap.md#"+doc.Allowed)+" is `true`, and [annotations-risk-level](configmap.md#annotations-risk-level) is "+doc.Risk.String())
	}
	if doc.Protects {
		p.item("Protects", p.whileNotValid())
	}
	if doc.Closes {
		p.item("Closes", "while it is asked for and a value of its behaviour is not valid, the paths of the Ingress answer 503")
	}
	if len(doc.Off) > 0 {
		p.item("Off", "without effect with the value `"+strings.Join(doc.Off, "`, `")+"`")
	}
	if name := defaulted(doc.Key); name != "" && p.kind == "setting" {
		p.item("Annotation", link(name, "annotations.md#"+name)+", for one Ingress")
	}
	if p.kind == "setting" && annotations.PerClass(doc.Key) {
		p.item("Class", "a "+link("class", "../classes.md")+" can set it for its Ingresses")
	}
	p.item("Cases", p.cases(doc, func(u use) bool { return !u.refused }))
	p.item("Refused in", p.cases(doc, func(u use) bool { return u.refused }))
	p.add("\n")
}

func (p *page) item(name, text string) {
	if text != "" {
		p.add("- **" + name + ":** " + text + "\n")
	}
}

func (p *page) whileNotValid() string {
	if p.kind == "setting" {
		return "while it is not valid, the paths of which it is the default answer 503"
	}
	return "while it is not valid, the paths of the Ingress answer 503"
}

func (p *page) byDefault(doc keys.Doc) string {
	if doc.From != "" {
		defaults, _ := settings.Read(nil)
		value, _ := defaults.Value(doc.From)
		return "the setting " + link(doc.From, "configmap.md#"+doc.From) + ", which is " + orNone(value) + " where nobody writes it"
	}
	return orNone(doc.Default)
}

func link(text, to string) string { return "[" + text + "](" + to + ")" }

func orNone(value string) string {
	if value == "" {
		return "none"
	}
	return "`" + value + "`"
}

// defaulted is the annotation whose default a setting gives, or "".
func defaulted(setting string) string {
	for _, doc := range annotationDocs() {
		if doc.From == setting {
			return doc.Key
		}
	}
	return ""
}

// usesOf are the uses of a key under all its names, the plainest first.
func (p *page) usesOf(doc keys.Doc) []use {
	var all []use
	for _, name := range doc.Names {
		all = append(all, p.uses[p.kind+" "+name]...)
	}
	slices.SortFunc(all, plainer)
	return all
}

const (
	// mostExample is the longest value that is shown.
	mostExample = 120
	// mostKeys is how many keys a case has whose values are meant: one with more
	// shows what nginx takes.
	mostKeys = 12
)

// example is a value to copy: from the case with the fewest other keys a valid
// one that is neither the default nor at the edge of what is valid, or else the
// default.
func (p *page) example(doc keys.Doc) string {
	name, usual := doc.Key, doc.Default
	if p.kind == "annotation" {
		name = annotations.FieldOf(prefix+"/", doc.Key)
	}
	if doc.From != "" {
		defaults, _ := settings.Read(nil)
		usual, _ = defaults.Value(doc.From)
	}
	value := usual
	for _, u := range slices.Backward(p.usesOf(doc)) {
		if !u.refused && u.keys <= mostKeys && u.value != usual && u.value != "" && !extreme(doc, u.value) {
			value = u.value
		}
	}
	if value == "" || len(value) > mostExample {
		return ""
	}
	return "```yaml\n" + name + ": " + strconv.Quote(value) + "\n```\n\n"
}

// extreme is true for a value at the edge of what is valid, unless that is one
// of a few words.
func extreme(doc keys.Doc, value string) bool {
	return slices.Contains(edges.Of(doc), value) && !strings.HasPrefix(doc.Valid, `"`)
}

// cases names the golden cases in which a key is refused or not, the plainest
// first. The page ends with where they are.
func (p *page) cases(doc keys.Doc, refused func(use) bool) string {
	var names []string
	for _, u := range p.usesOf(doc) {
		if name := "[" + u.name + "]"; refused(u) && !slices.Contains(names, name) {
			names = append(names, name)
			p.linked[u.name] = true
		}
	}
	return strings.Join(names, ", ")
}

// links says where the cases are that the page names.
func (p *page) links() {
	p.add("\n")
	for _, name := range slices.Sorted(maps.Keys(p.linked)) {
		p.add("[" + name + "]: ../../test/golden/cases/" + name + ".txtar\n")
	}
}

// unsupported is the table at the end: keys, and values of keys that are read.
func (p *page) unsupported(list []keys.Known, read []keys.Doc, becomes map[keys.Fate]string) {
	p.add("## Not read yet\n\n")
	p.add("Sluice knows these keys and values of ingress-nginx 1.15, but does not support them yet. They have no effect beyond the one in the table.\n\n")
	p.add("| " + p.kind + " | effect |\n|---|---|\n")
	rows := map[string]string{}
	for _, doc := range read {
		if len(doc.Undone) > 0 {
			rows[doc.Key+" with the value `"+strings.Join(doc.Undone, "` or `")+"`"] = "a Problem; " + becomes[keys.Denied]
		}
	}
	for _, k := range list {
		text := "a Problem"
		switch become := becomes[k.Fate]; {
		case k.Fate == keys.Idle:
			text += "; it has no effect in ingress-nginx either"
		case become != "":
			text += "; unless the value is " + offValues(k.OffValues())
			if k.Needs != "" {
				text += ", or `" + k.Needs + "` is off"
			}
			text += ", " + become
		case k.Needs != "":
			text += "; it has no effect without `" + strings.ReplaceAll(k.Needs, " ", "` or `") + "`"
		}
		rows[k.Key] = text
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		p.add("| " + name + " | " + cell(rows[name]) + " |\n")
	}
}

// offValues says by which values nothing is asked for.
func offValues(values []string) string {
	var words []string
	for _, value := range values {
		if value == "" {
			words = append(words, "empty")
		} else {
			words = append(words, "`"+value+"`")
		}
	}
	return strings.Join(words, " or ")
}

var quoted = regexp.MustCompile(`"([^"]*)"`)

// codes writes what is quoted as code.
func codes(text string) string { return quoted.ReplaceAllString(text, "`$1`") }

// prose keeps what is not meant as Markdown from being taken for it.
func prose(text string) string { return strings.NewReplacer("*", `\*`, "<", "&lt;").Replace(text) }

// cell keeps a text within its cell of a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
