package settings

import "sluice/internal/keys"

// Gzip configures the compression of answers.
type Gzip struct {
	Enabled   bool `key:"use-gzip" default:"false" empty:"zero" doc:"Whether nginx compresses answers for clients that support it."`
	Level     int  `key:"gzip-level" default:"1" validate:"min=1,max=9" doc:"Level of compression. 9 makes the smallest answers and takes the most time."`
	MinLength int  `key:"gzip-min-length" default:"256" validate:"min=0,max=1073741824" doc:"Smallest answer with a Content-Length, in bytes, that nginx compresses."`
	// nginx stores the types in a hash table whose buckets hold at most 46 bytes.
	// Source: ngx_http_merge_types in nginx's src/http/ngx_http.c.
	Types   keys.Words `key:"gzip-types" default:"application/atom+xml application/javascript application/x-javascript application/json application/rss+xml application/vnd.ms-fontobject application/x-font-ttf application/x-web-app-manifest+json application/xhtml+xml application/xml font/opentype image/svg+xml image/x-icon text/css text/javascript text/plain text/x-component" validate:"dive,max=46,media_type" doc:"Types of answers that nginx compresses, besides text/html. * means all."`
	Disable string     `key:"gzip-disable" empty:"zero" validate:"max=1000" doc:"Regular expression for the User-Agent of browsers that get no compressed answers."`
}
