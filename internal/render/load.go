package render

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"

	"github.com/Masterminds/sprig/v3"

	"sluice/internal/model"
	"sluice/internal/tokens"
)

// Templates are checked templates and their grammar.
type Templates struct {
	core       map[string]*template.Template
	behaviours map[string]*behaviour
	// sum is a hash of the files.
	sum string
	// hosts is the grammar of the servers of hosts, grammar that of the rest: Sluice's
	// own servers have more directives.
	grammar, hosts *tokens.Node
	// used are the variables that the templates name.
	used map[string]bool
	// families begin the names of the variables that behaviours print.
	families []string
}

// behaviour holds the templates "<name>/<context>" of one behaviour or group of
// settings, by context.
type behaviour struct {
	contexts map[string]*template.Template
	// repeats is set if one of them has a directive of inheritedWhole, or a snippet.
	repeats bool
}

// root is a template that Go executes, with the blocks around it. ofHost selects the
// grammar of the hosts.
type root struct {
	name   string
	ofHost bool
	blocks []string
}

var roots = []root{
	{"nginx", false, nil}, {"bootstrap", false, nil}, {"http", false, inHTTP}, {"headers", false, inHTTP}, {"joined-headers", false, inHTTP}, {"empty", false, inHTTP}, {"control", false, inHTTP},
	{"upstream", false, inHTTP}, {"catchall", false, inHTTP}, {"listen", false, inServer}, {"listen", true, inServer},
	{"server", true, inHTTP}, {"subrequests", false, inServer}, {"subrequests", true, inServer}, {"location", true, inServer}, {"body-limit", true, inLocation}, {"named", true, inServer}, {"subrequest", true, inServer},
	{"proxy-ssl", true, inLocation}, {"fastcgi", false, inHTTP}, {"core-rules", false, inHTTP}, {"borrowed", false, inHTTP}, {"geoip", false, inHTTP}, {"quic-passed", false, inHTTP},
	{"server-tls", true, inServer}, {"server-ciphers", true, inServer}, {"client-trust", true, inServer},
	{"stream", false, inStream}, {"stream-server", false, inStream}, {"stream-snippet", false, inStream}, {"passthrough", false, inStream}, {"passed-name", false, []string{"stream", "map"}}, {"passed-upstream", false, inStream},
}

// contexts are the contexts of behaviours, with their places in the file.
var contexts = map[string][]root{
	"main": {{blocks: nil}}, "events": {{blocks: []string{"events"}}}, "http": {{blocks: inHTTP}}, "shared": {{blocks: inHTTP}},
	"upstream": {{blocks: []string{"http", "upstream"}}}, "every-server": {{blocks: inServer}}, "catchall": {{blocks: inServer}},
	"server": {{blocks: inServer}, {blocks: inServer, ofHost: true}}, "location": {{blocks: inLocation, ofHost: true}},
	"first": {{blocks: inLocation, ofHost: true}}, "answer": {{blocks: inLocation, ofHost: true}}, "redirect": {{blocks: inLocation, ofHost: true}}, "stream": {{blocks: inStream}},
}

// Blocks of nginx.conf, from the outside in.
var (
	inHTTP     = []string{"http"}
	inServer   = []string{"http", "server"}
	inLocation = []string{"http", "server", "location"}
	inStream   = []string{"stream"}
)

// place returns the node that a root begins in.
func (t *Templates) place(r root) *tokens.Node {
	if r.ofHost {
		return t.hosts.At(r.blocks...)
	}
	return t.grammar.At(r.blocks...)
}

// Load parses all *.tmpl files, checks them and learns their grammar. The error names
// file and line of the first template that is refused.
func Load(files fs.FS) (*Templates, error) {
	set, sum, err := parseAll(files)
	if err != nil {
		return nil, err
	}
	t := &Templates{core: map[string]*template.Template{}, behaviours: map[string]*behaviour{}, sum: sum, grammar: tokens.NewNode(""), hosts: tokens.NewNode("")}
	if err := t.walk(set); err != nil {
		return nil, err
	}
	t.learnDialects()
	t.learnInherited()
	return t, t.try()
}

// Sum is a hash of the files of the templates.
func (t *Templates) Sum() string { return t.sum }

// walk walks all templates. A template that no root reaches is an error.
func (t *Templates) walk(set *template.Template) error {
	trees := map[string]*parse.Tree{}
	for _, tmpl := range set.Templates() {
		trees[tmpl.Name()] = tmpl.Tree
	}
	w := tokens.NewWalker(trees)
	w.OnRaw = refuseInServer
	t.used = w.Used
	defer func() { t.families = slices.Sorted(maps.Keys(w.Families)) }()
	for _, r := range roots {
		if err := w.WalkRoot(r.name, t.place(r)); err != nil {
			return err
		}
		t.core[r.name] = set.Lookup(r.name)
	}
	w.OnRaw = nil
	for _, name := range slices.Sorted(maps.Keys(trees)) {
		if err := t.walkBehaviour(w, set.Lookup(name)); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(trees)) {
		if !w.Reached[name] {
			return fmt.Errorf("template %q is used nowhere: want it called by another one, or named BEHAVIOUR/CONTEXT where the context is one of %s",
				name, strings.Join(slices.Sorted(maps.Keys(contexts)), ", "))
		}
	}
	return nil
}

// walkBehaviour walks a template "<name>/<context>". Others are walked from the templates
// that call them.
func (t *Templates) walkBehaviour(w *tokens.Walker, tmpl *template.Template) error {
	name, context := path.Split(tmpl.Name())
	places, ok := contexts[context]
	if name = strings.TrimSuffix(name, "/"); !ok || name == "" {
		return nil
	}
	b := t.behaviours[name]
	if b == nil {
		b = &behaviour{contexts: map[string]*template.Template{}}
		t.behaviours[name] = b
	}
	b.contexts[context] = tmpl
	if context == "shared" || slices.ContainsFunc(places, func(at root) bool { return at.ofHost }) {
		w.Own = tokens.VariablesOf(name) // a behaviour of Ingresses, not a group of settings
	}
	w.OnLeaf = func(directive string) {
		b.repeats = b.repeats || (inheritedWhole[directive] || directive == tokens.RawName) && slices.Contains([]string{"server", "location", "answer", "redirect"}, context)
	}
	defer func() { w.OnLeaf, w.Own = nil, "" }()
	for _, at := range places {
		if err := w.WalkRoot(tmpl.Name(), t.place(at)); err != nil {
			return err
		}
	}
	return nil
}

// parseAll reads the files in order of their paths, and returns their hash too.
func parseAll(files fs.FS) (set *template.Template, sum string, err error) {
	set = template.New("").Funcs(functions())
	all := sha256.New()
	err = fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(name) != ".tmpl" {
			return err
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		fmt.Fprintf(all, "%q %d\n%s", name, len(text), text)
		return parseFile(set, name, string(text))
	})
	return set, hex.EncodeToString(all.Sum(nil)), err
}

// parseFile adds the templates of a file.
func parseFile(set *template.Template, name, text string) error {
	file, err := template.New(name).Funcs(functions()).Parse(text)
	if err != nil {
		return err
	}
	for _, tmpl := range file.Templates() {
		switch {
		case tmpl.Name() == name:
			if !parse.IsEmptyTree(tmpl.Tree.Root) {
				return fmt.Errorf("%s: want no text outside of {{ define }}", name)
			}
			continue
		case set.Lookup(tmpl.Name()) != nil:
			return fmt.Errorf("%s: template %q is defined twice", name, tmpl.Name())
		}
		if _, err := set.AddParseTree(tmpl.Name(), tmpl.Tree); err != nil {
			return err
		}
	}
	return nil
}

// functions are the functions of templates: the pure ones of sprig, the printers, insert
// and raw.
func functions() template.FuncMap {
	all := sprig.HermeticTxtFuncMap()
	for name, p := range tokens.Printers() {
		all[name] = p
	}
	all["variable"] = func(args ...any) (string, error) {
		if own, ok := args[0].(string); ok && len(args) == 2 {
			return tokens.OfText(func(name string) (string, error) { return tokens.PrintOwnVariable(own, name) })(args[1]) // walker.allow added own
		}
		return tokens.OfText(tokens.PrintVariable)(args[0])
	}
	all[tokens.InsertName] = func(i insertion) (string, error) { return "", i() }
	all[tokens.RawName] = raw
	return all
}

// try executes the core templates once, so that Load reports a field that the views
// lack.
func (t *Templates) try() error {
	e := Environment{HTTPPort: 80, HTTPSPort: 443, StateDir: "/state", Lua: "/lua", IPv6: true,
		Capabilities: Capabilities{Stream: true, SSLPreread: true, StreamRealIP: true}}
	redirect := &model.Redirect{Code: 308, Port: 443}
	location := func(path string) *model.Location {
		return &model.Location{Modifier: model.Equal, Path: path, RedirectToHTTPS: redirect, Rewrite: &model.Rewrite{Pattern: "/(.*)", Target: "/$1"},
			Proxy: &model.Proxy{Backend: "a/b/c~d", Service: model.ServicePort{Namespace: "a", Name: "b", Port: "c"}, Transport: model.Transport{TLS: true, Verify: true, Name: "a", TrustedCA: "a", VerifyDepth: 1}}}
	}
	subrequest := location(model.InternalPrefix + "a")
	subrequest.RedirectToHTTPS, subrequest.Rewrite, subrequest.Proxy.URI = nil, nil, "/"
	static := model.Static{Servers: []*model.Server{
		{RedirectToHTTPS: redirect, Locations: []*model.Location{{Path: "/", Return: &model.Return{Code: 404}}}},
		{Host: "*.a", RedirectToHTTPS: redirect, Locations: []*model.Location{location("/")}, Internal: []*model.Internal{{Location: subrequest}, model.MissOf(location("/"))}},
	}}
	static.Streams = []model.Stream{{Protocol: model.TCP, Port: 1, AcceptsProxy: true, SendsProxy: true, Endpoints: []model.Endpoint{{Address: "::1", Port: 1}}}}
	static.PassesThrough = true
	static.Passthroughs = []model.Passthrough{{Host: "*.b", Aliases: []string{"c"}, Except: []string{"a.b"}}}
	if _, problems := t.Render(static, e, nil); len(problems) > 0 {
		return fmt.Errorf("templates cannot be executed: %s", problems[0].Text)
	}
	_, err := t.Bootstrap(e)
	return err
}
