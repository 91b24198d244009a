package settings

import (
	"slices"
	"strconv"

	"sluice/internal/keys"
	"sluice/internal/model"
)

// Blocks are what nginx.conf says once for all, each group of settings that
// prints something under its name in lower case.
func (s *Settings) Blocks() []model.Block {
	block := func(name string, data any) model.Block {
		return model.Block{Name: name, Data: data, Source: s.source.object}
	}
	return []model.Block{
		block("workers", s.Workers),
		block("memory", s.Memory),
		block("hash", s.Hash),
		block("patterns", s.Patterns),
		block("log-format-upstream", s.LogFormat),
		block("log-format-stream", s.StreamLog),
		block("log", s.Log),
		block("stream", s.Stream),
		block("gzip", s.Gzip),
		block("client", s.Client),
		block("headers", s.Headers),
		block("forwarded", s.Forwarded),
		block("listen", s.Listen),
		block("http2", s.HTTP2),
		block("tls", s.TLS),
		block("hsts", s.HSTS),
		block("client-limits", s.Limits),
		block("proxy", s.Proxy),
		block("keepalive", s.Keepalive),
	}
}

// Value is the text in force for a key, defaults included; false for a key
// that is not a setting. It is what annotations with a from tag default to.
func (s *Settings) Value(key string) (string, bool) {
	holds, ok := s.source.inForce[key]
	return holds.text, ok
}

// Broken is true for a key that protects and whose value is not valid: what
// would take it as its default must not be served.
func (s *Settings) Broken(key string) bool { return s.source.broken[key] }

// Denies is true if the ConfigMap asks for a protection of every path that
// Sluice does not know: no path may be served.
func (s *Settings) Denies() bool { return s.source.denies }

// Once gives what derive makes of the settings for a key, which is computed
// once. The result is shared and must not be changed.
func (s *Settings) Once(key any, derive func(*Settings) any) any {
	if known, ok := s.source.once.Load(key); ok {
		return known
	}
	result, _ := s.source.once.LoadOrStore(key, derive(s))
	return result
}

// Header is the value of Strict-Transport-Security.
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

// TakesUnderscores is true if names of headers with underscores come in, be it as
// invalid ones. nginx does not find those again by their names, and so must take
// them for valid ones to withhold them.
func (c Client) TakesUnderscores() bool { return c.Underscores || !c.IgnoreInvalid }

// TempFileSize is the largest file for an answer: none, or at least as large as
// a buffer, as nginx demands.
func (p Proxy) TempFileSize() keys.Size {
	if p.MaxTempFileSize == "0" {
		return "0"
	}
	return keys.Larger(p.MaxTempFileSize, p.BufferSize)
}

// Retry is when a request is tried again: the words of proxy_next_upstream.
func (p Proxy) Retry() []string {
	return RetryWords(p.NextUpstream, p)
}

// RetryWords adds to an annotation's words what the ConfigMap adds to all.
func RetryWords(words []string, p Proxy) []string {
	if p.RetryNonIdempotent && !slices.Contains(words, "non_idempotent") && !slices.Contains(words, "off") {
		return append(slices.Clone(words), "non_idempotent")
	}
	return words
}
