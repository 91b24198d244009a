package render

import (
	"testing"
)

func TestPlacesOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text      string
		have, not []string
	}{
		{"# include geoip2\nproxy_set_header X-Includes geoip;", nil, []string{"geoip_country_code", "geoip2_country_code"}},
		{"include /etc/places.conf;", []string{"geoip_country_code", "geoip2_country_code"}, nil},
		{"geoip_country /a.dat;", []string{"geoip_country_code", "geoip_city"}, []string{"geoip2_country_code"}},
		{"geoip2 /a.mmdb { auto_reload 5m; $geoip2_Own country iso_code; }", []string{"geoip2_own"}, []string{"geoip2_country_code", "geoip_own"}},
		{"map $http_x $geoip2_own { default 1; }", []string{"geoip2_own"}, []string{"geoip2_other"}},
	} {
		places := placesOf([]byte(c.text))
		for _, name := range c.have {
			if !places.have(name) {
				t.Errorf("%q: lacks $%s", c.text, name)
			}
		}
		for _, name := range c.not {
			if places.have(name) {
				t.Errorf("%q: has $%s", c.text, name)
			}
		}
	}
}
