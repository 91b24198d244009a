package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"sluice/internal/controller"
	"sluice/internal/geoip"
)

// geoIPFlags name the GeoIP2 databases and where to download them.
type geoIPFlags struct {
	dir      string
	editions []string
	fetch    geoip.Fetch
}

func (f *geoIPFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.dir, "geoip-dir", "/etc/ingress-controller/geoip", "folder with GeoIP2 databases such as GeoLite2-City.mmdb, for use-geoip2; watched")
	flags.StringSliceVar(&f.editions, "maxmind-edition-ids", []string{"GeoLite2-City", "GeoLite2-ASN"}, "the GeoIP2 databases to use")
	flags.StringVar(&f.fetch.LicenseKey, "maxmind-license-key", "", "license key of MaxMind, to download the databases that --geoip-dir lacks")
	flags.StringVar(&f.fetch.Mirror, "maxmind-mirror", "", "URL of a folder with EDITION.tar.gz, to download from there instead")
	flags.IntVar(&f.fetch.Tries, "maxmind-retries-count", 1, "tries to download each database")
	flags.DurationVar(&f.fetch.Delay, "maxmind-retries-timeout", time.Duration(0), "time before the second try, which grows by half for each further one; 0s means no second try")
}

// options returns the databases to read.
func (f *geoIPFlags) options(state string, log *slog.Logger) (geoip.Options, error) {
	o := geoip.Options{Dir: f.dir, Copies: filepath.Join(state, "geoip"), Log: log}
	for _, edition := range f.editions {
		edition = strings.TrimSpace(edition)
		switch {
		case edition == "" || slices.Contains(o.Editions, edition):
		case !slices.Contains(geoip.Editions, edition):
			return o, fmt.Errorf("--maxmind-edition-ids: want some of %s, separated by commas (got %q)", strings.Join(geoip.Editions, ", "), edition)
		default:
			o.Editions = append(o.Editions, edition)
		}
	}
	if f.fetch.Mirror == "" {
		return o, nil
	}
	if u, err := url.Parse(f.fetch.Mirror); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return o, fmt.Errorf("--maxmind-mirror: want a URL such as https://mirror.example/geoip (got %q)", f.fetch.Mirror)
	}
	return o, nil
}

// databases reads the GeoIP2 databases and watches them. Downloads do not hold up the start.
func (f *runFlags) databases(ctx context.Context, state string, log *slog.Logger) (controller.Databases, error) {
	o, err := f.geoIP.options(state, log)
	if err != nil {
		return nil, err
	}
	source := geoip.Open(o)
	if err := source.Watch(ctx); err != nil {
		return nil, err
	}
	go source.Fetch(ctx, f.geoIP.fetch)
	return source, nil
}
