package settings

import "sluice/internal/keys"

// Brotli configures the compression of answers for clients that know it. It comes before
// gzip.
type Brotli struct {
	Enabled   bool `key:"enable-brotli" default:"false" empty:"zero" doc:"Whether nginx compresses answers by brotli for clients that support it. This needs the module libnginx-mod-http-brotli-filter, which the image has."`
	Level     int  `key:"brotli-level" default:"4" validate:"min=0,max=11" doc:"Level of compression. 11 makes the smallest answers and takes the most time."`
	MinLength int  `key:"brotli-min-length" default:"20" validate:"min=0,max=1073741824" doc:"Smallest answer with a Content-Length, in bytes, that nginx compresses."`
	// The types are in a hash table as those of gzip are.
	Types keys.Words `key:"brotli-types" default:"application/xml+rss application/atom+xml application/javascript application/x-javascript application/json application/rss+xml application/vnd.ms-fontobject application/x-font-ttf application/x-web-app-manifest+json application/xhtml+xml application/xml font/opentype image/svg+xml image/x-icon text/css text/javascript text/plain text/x-component" validate:"dive,max=46,media_type" doc:"Types of answers that nginx compresses, besides text/html. * means all."`
}

// GeoIP tells where clients are.
type GeoIP struct {
	Enabled bool `key:"use-geoip2" default:"false" empty:"zero" doc:"Whether nginx looks up the address of a client in the databases of --geoip-dir, for variables such as $geoip2_country_code. This needs the module libnginx-mod-http-geoip2, which the image has."`
}
