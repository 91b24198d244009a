package settings

import (
	"slices"
	"strconv"

	"sluice/internal/model"
)

// Blocks returns the blocks of nginx.conf above the servers, one for each group of
// settings that prints something.
func (s *Settings) Blocks() []model.Block {
	block := func(name string, data any) model.Block {
		return model.Block{Name: name, Data: data, Source: s.source.object}
	}
	blocks := []model.Block{
		block("workers", s.Workers),
		block("memory", s.Memory),
		block("hash", s.Hash),
		block("patterns", s.Patterns),
		block("log-format-upstream", s.LogFormat),
		block("log-format-stream", s.StreamLog),
		block("log", s.Log),
		block("opentelemetry", s.Tracing),
		block(DebugHeaderBlock, s.DebugHeader),
		block("stream", s.Stream),
		block("gzip", s.Gzip),
		block("brotli", s.Brotli),
		block("geoip", s.GeoIP),
		block("block-lists", s.BlockLists),
		block("client", s.Client),
		block("headers", s.Headers),
		block("global-headers", s.printedHeaders()),
		block("forwarded", s.Forwarded),
		block("listen", s.Listen),
		block("http2", s.HTTP2),
		block("http3", s.printedHTTP3()),
		block("tls", s.TLS),
		block("hsts", s.printedHSTS()),
		block("client-limits", s.Limits),
		block("proxy", s.Proxy),
		block("answers", s.Answers),
		block("redirects", s.Redirects),
		block("grpc", s.GRPC),
		block("keepalive", s.Keepalive),
		block(StatusBlock, s.StatusClients()),
	}
	return append(blocks, s.snippetBlocks(block)...)
}

// Value returns the text in force for a key, which can be the default; false if the key is
// no setting. It is the default of annotations with a from tag.
func (s *Settings) Value(key string) (string, bool) {
	holds, ok := s.source.inForce[key]
	return holds.text, ok
}

// Broken reports whether a key protects and has an invalid value. Paths that take it as
// their default must not be served.
func (s *Settings) Broken(key string) bool { return s.source.broken[key] }

// Denies reports whether the ConfigMap, or the Namespace, has a protection of every path that
// Sluice does not support, or a snippet for all paths that is not in force. No path may be
// served.
func (s *Settings) Denies() bool {
	for of := s.source; of != nil; of = of.above() {
		if of.broken[defaultKey] || of.broken[fixedKey] {
			return true
		}
	}
	return s.source.denies || s.namespace != nil && s.namespace.denies
}

// Once returns the result of derive, which runs only once for a key. Callers must not
// modify the result.
func (s *Settings) Once(key any, derive func(*Settings) any) any {
	if known, ok := s.source.once.Load(key); ok {
		return known
	}
	result, _ := s.source.once.LoadOrStore(key, derive(s))
	return result
}

// Header returns the value of Strict-Transport-Security.
func (h HSTS) Header() string {
	value := "max-age=" + strconv.Itoa(h.MaxAge)
	if h.IncludeSubdomains {
		value += "; includeSubDomains"
	}
	if h.Preload {
		value += "; preload"
	}
	return value
}

// TakesUnderscores reports whether nginx must accept header names with underscores as
// valid. That includes the case in which it lets invalid headers through, because nginx
// can only remove a header that it finds by name.
func (c Client) TakesUnderscores() bool { return c.Underscores || !c.IgnoreInvalid }

// Retry returns the words of proxy_next_upstream.
func (p Proxy) Retry() []string {
	return RetryWords(p.NextUpstream, p)
}

// RetryWords adds the word of retry-non-idempotent to the words of proxy_next_upstream.
func RetryWords(words []string, p Proxy) []string {
	if p.RetryNonIdempotent && !slices.Contains(words, "non_idempotent") && !slices.Contains(words, "off") {
		return append(slices.Clone(words), "non_idempotent")
	}
	return words
}
