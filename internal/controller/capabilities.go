package controller

import (
	"sluice/internal/nginx"
	"sluice/internal/render"
)

// Capabilities are what render must know of what an nginx can do.
func Capabilities(c nginx.Capabilities) render.Capabilities {
	return render.Capabilities{HTTP2Directive: c.HTTP2Directive, Stream: c.Stream != "", SSLPreread: c.SSLPreread, StreamRealIP: c.StreamRealIP,
		HeadersMore: c.HeadersMore != ""}
}
