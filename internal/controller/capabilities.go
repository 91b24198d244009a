package controller

import (
	"sluice/internal/nginx"
	"sluice/internal/render"
)

// Capabilities returns the features of an nginx that render asks for.
func Capabilities(c nginx.Capabilities) render.Capabilities {
	return render.Capabilities{HTTP2Directive: c.HTTP2Directive, HTTP3: c.HTTP3, StubStatus: c.StubStatus, Stream: c.Stream != "", SSLPreread: c.SSLPreread, StreamRealIP: c.StreamRealIP,
		HeadersMore: c.HeadersMore != "", ModSecurity: c.ModSecurity != "", Brotli: c.Brotli != "", GeoIP: c.GeoIP != ""}
}
