package render

import (
	"bytes"
	"maps"
	"slices"

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
