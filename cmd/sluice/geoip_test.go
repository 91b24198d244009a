package main

import (
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestGeoIPFlags(t *testing.T) {
	t.Parallel()
	for arguments, want := range map[string]string{
		"": "GeoLite2-City,GeoLite2-ASN", "--maxmind-edition-ids=GeoIP2-ISP,,GeoIP2-ISP": "GeoIP2-ISP", "--maxmind-edition-ids=": "",
		"--maxmind-edition-ids=GeoLite2-Moon": `--maxmind-edition-ids: want some of GeoIP2-ASN, GeoIP2-Anonymous-IP, `, "--maxmind-mirror=mirror.example": "--maxmind-mirror: want a URL such as ",
		"--maxmind-mirror=https://mirror.example/geoip": "GeoLite2-City,GeoLite2-ASN",
	} {
		var f geoIPFlags
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		f.add(flags)
		if err := flags.Parse(strings.Fields(arguments)); err != nil {
			t.Fatal(err)
		}
		o, err := f.options("/state", slog.New(slog.DiscardHandler))
		if err != nil && !strings.HasPrefix(err.Error(), want) || err == nil && (!slices.Equal(o.Editions, strings.FieldsFunc(want, func(r rune) bool { return r == ',' })) || o.Copies != "/state/geoip") {
			t.Errorf("%s: %+v, error %v", arguments, o, err)
		}
	}
}
