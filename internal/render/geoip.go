package render

import (
	"bytes"
	"maps"
	"regexp"
	"slices"
	"strings"

	"sluice/internal/syntax"
	"sluice/internal/tokens"
)

// Database is a GeoIP2 database. Its path changes with its content.
type Database struct {
	// Edition is a name such as "GeoLite2-City".
	Edition string
	Path    string
}

// geoipView has the paths of the databases by their kinds. Undefined are the variables that
// none of them has: all if the settings ask for databases, as snippets can name any of them,
// otherwise those of the access log.
type geoipView struct {
	Country, City, ASN, ISP, AnonymousIP, ConnectionType []string

	Undefined []string
}

// geoIP prints the blocks of the databases.
func (r *rendering) geoIP() {
	var view geoipView
	kinds := map[string]*[]string{"Country": &view.Country, "City": &view.City, "ASN": &view.ASN, "ISP": &view.ISP, "Anonymous-IP": &view.AnonymousIP, "Connection-Type": &view.ConnectionType}
	if r.global.GeoIP.Enabled {
		for _, d := range r.env.Databases {
			if paths := kinds[d.Kind()]; paths != nil {
				*paths = append(*paths, d.Path)
			}
		}
	}
	before, start := r.page.here(), r.page.Len()
	r.page.from(Origin{Object: findBlock(r.global.blocks, "geoip").Source, Behaviour: "geoip"})
	r.must("geoip", &view, inHTTP...)
	view.Undefined = r.undefinedGeoIP(r.page.Bytes()[start:])
	if len(view.Undefined) > 0 {
		r.page.back(before)
		r.page.from(Origin{Object: findBlock(r.global.blocks, "geoip").Source, Behaviour: "geoip"})
		r.must("geoip", &view, inHTTP...)
	}
	r.page.from(Origin{})
}

// undefinedGeoIP returns the variables that may be used and that a text does not define. nginx
// refuses the whole file for one.
func (r *rendering) undefinedGeoIP(text []byte) []string {
	used := r.global.LogFormat.Variables()
	if r.global.GeoIP.Enabled {
		used = slices.Collect(maps.Keys(tokens.GeoIP))
	}
	var missing []string
	for _, name := range used {
		if tokens.GeoIP[name] && !bytes.Contains(text, []byte("\t$"+name+" ")) {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	return slices.Compact(missing)
}

// Kind is the part of an edition behind its line of products, such as "City".
func (d Database) Kind() string {
	for _, product := range []string{"GeoLite2-", "GeoIP2-"} {
		if len(d.Edition) > len(product) && d.Edition[:len(product)] == product {
			return d.Edition[len(product):]
		}
	}
	return ""
}

// ofGeoIP matches the variables of nginx's modules for GeoIP Legacy and GeoIP2.
var ofGeoIP = regexp.MustCompile(`\$\{?((?i:geoip2?_[a-z0-9_]+))`)

// unknownPlace refuses a directive with a variable of GeoIP that nobody defines: nginx would refuse
// the whole file, and say no more than that the variable is unknown. An http-snippet may define it,
// and a snippet set it before.
func (r *rendering) unknownPlace(s syntax.Statement, until int) error {
	for _, found := range ofGeoIP.FindAllStringSubmatch(strings.Join(s.Tokens, " "), -1) {
		name := strings.ToLower(found[1])
		switch {
		case r.ownPlaces.have(name), r.global.GeoIP.Enabled && tokens.GeoIP[name], r.isSet(name, until):
		case !strings.HasPrefix(name, "geoip2_"):
			return &tokens.Refusal{Want: "the variables $geoip2_* of the setting use-geoip2: those of GeoIP Legacy are not there", Got: "$" + name}
		case r.global.GeoIP.Enabled:
			return &tokens.Refusal{Want: "a variable that the setting use-geoip2 defines", Got: "$" + name}
		default:
			return &tokens.Refusal{Want: "the setting use-geoip2 with a database: it is off, and its variables are not there", Got: "$" + name}
		}
	}
	return nil
}

// isSet reports whether a snippet of the page until a position sets a variable.
func (r *rendering) isSet(name string, until int) bool {
	for _, e := range r.page.rawIn(0, until) {
		statements, _ := syntax.Parse(r.page.Bytes()[e.start:e.end])
		for _, s := range statements {
			if variable, _ := s.Sets(); strings.EqualFold(variable, name) {
				return true
			}
		}
	}
	return false
}

// places are variables of GeoIP. all is set if any of them may be there, and legacy for all those
// of GeoIP Legacy, whose module defines them at once.
type places struct {
	all, legacy bool
	names       []string
}

func (p places) have(name string) bool {
	return p.all || p.legacy && !strings.HasPrefix(name, "geoip2_") || slices.Contains(p.names, name)
}

// placesOf returns the variables that an http-snippet defines: in a geoip2 block, a map or the like,
// or perhaps in a file that it includes.
func placesOf(text []byte) (p places) {
	statements, _ := syntax.Parse(text)
	for _, s := range statements {
		p.all = p.all || s.Name() == "include"
		p.legacy = p.legacy || strings.HasPrefix(s.Name(), "geoip_")
		variable, _ := s.Sets()
		if s.Block == "geoip2" {
			variable = strings.ToLower(strings.TrimPrefix(s.Name(), "$"))
		}
		if strings.HasPrefix(variable, "geoip") {
			p.names = append(p.names, variable)
		}
	}
	return p
}
