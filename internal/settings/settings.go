// Package settings reads the controller's ConfigMap. In goes the object, out
// come typed values in groups, the blocks that nginx.conf says once for all,
// and a Problem for each key that cannot be taken as it is written.
//
// A key with a bad value keeps its default and everything else goes on. Keys,
// defaults and meanings are ingress-nginx's; the tags of the fields are their
// documentation (see package keys).
package settings

import "sluice/internal/keys"

// Settings is everything the ConfigMap says.
type Settings struct {
	Workers     Workers
	Memory      Memory
	Client      Client
	Proxy       Proxy
	Keepalive   Keepalive
	TLS         TLS
	HSTS        HSTS
	Redirects   Redirects
	Paths       Paths
	Hosts       Hosts
	HTTP2       HTTP2
	Listen      Listen
	Headers     Headers
	Forwarded   Forwarded
	LogFormat   LogFormat
	StreamLog   StreamLog
	Log         Log
	Stream      Stream
	Gzip        Gzip
	Hash        Hash
	Patterns    Patterns
	Access      Access
	Limits      ClientLimits
	Annotations Annotations

	source *source
}

// Client is how clients are spoken with.
//
// A buffer is memory that each connection may ask for: more than a gigabyte is
// a slip, as "8g" for "8k".
type Client struct {
	KeepAlive          int          `key:"keep-alive" default:"75" validate:"min=0,max=31536000" unit:"seconds" doc:"Seconds that an idle connection of a client stays open; 0 closes it after each answer."`
	KeepAliveRequests  int          `key:"keep-alive-requests" default:"1000" validate:"min=1,max=1000000000" doc:"Requests that one connection of a client may carry."`
	HeaderBufferSize   keys.Size    `key:"client-header-buffer-size" default:"1k" validate:"min=1,max=1073741824" doc:"Buffer for the header of a request."`
	LargeHeaderBuffers keys.Buffers `key:"large-client-header-buffers" default:"4 8k" doc:"Number and size of the buffers for large headers of requests."`
	BodyBufferSize     keys.Size    `key:"client-body-buffer-size" default:"8k" validate:"min=1,max=16777216" doc:"Buffer for the body of a request; a larger body goes to a file. Each request may hold one: 16m at most."`
	HeaderTimeout      int          `key:"client-header-timeout" default:"60" validate:"min=1,max=31536000" unit:"seconds" doc:"Seconds that a client has to send the header of a request."`
	BodyTimeout        int          `key:"client-body-timeout" default:"60" validate:"min=1,max=31536000" unit:"seconds" doc:"Seconds between two reads of the body of a request."`
	IgnoreInvalid      bool         `key:"ignore-invalid-headers" default:"true" empty:"zero" doc:"Whether headers with a name of other characters than letters, digits and - are left out of a request."`
	Underscores        bool         `key:"enable-underscores-in-headers" default:"false" empty:"zero" doc:"Whether the name of a header may have underscores."`
}

// Proxy is how requests are passed on, where no annotation says otherwise.
type Proxy struct {
	ConnectTimeout      int                `key:"proxy-connect-timeout" default:"5" validate:"min=1,max=31536000" unit:"seconds" doc:"Seconds to connect to a backend."`
	SendTimeout         int                `key:"proxy-send-timeout" default:"60" validate:"min=1,max=31536000" unit:"seconds" doc:"Seconds between two writes to a backend."`
	ReadTimeout         int                `key:"proxy-read-timeout" default:"60" validate:"min=1,max=31536000" unit:"seconds" doc:"Seconds between two reads from a backend."`
	BodySize            keys.Size          `key:"proxy-body-size" default:"1m" doc:"Largest body of a request; 0 is any size."`
	Buffering           string             `key:"proxy-buffering" default:"off" validate:"oneof=on off" doc:"Whether answers are buffered."`
	BufferSize          keys.Size          `key:"proxy-buffer-size" default:"4k" validate:"min=1,max=1073741824" doc:"Buffer for the first part of an answer, and the size of the other buffers."`
	BuffersNumber       int                `key:"proxy-buffers-number" default:"4" validate:"min=3,max=1024" doc:"Number of buffers for an answer."`
	RequestBuffering    string             `key:"proxy-request-buffering" default:"on" validate:"oneof=on off" doc:"Whether a request is read completely before it is passed on."`
	MaxTempFileSize     keys.Size          `key:"proxy-max-temp-file-size" default:"1024m" doc:"Largest file for an answer that does not fit the buffers; 0 is none, less than a buffer is one buffer."`
	NextUpstream        keys.Words         `key:"proxy-next-upstream" default:"error timeout" validate:"dive,oneof=error timeout invalid_header http_500 http_502 http_503 http_504 http_403 http_404 http_429 non_idempotent off" doc:"When a request is tried again with another endpoint."`
	NextUpstreamTries   keys.Optional[int] `key:"proxy-next-upstream-tries" default:"3" validate:"min=0,max=1000" doc:"How often a request is tried, at most 16 times; 0 is each endpoint once."`
	NextUpstreamTimeout keys.Optional[int] `key:"proxy-next-upstream-timeout" default:"0" validate:"min=0,max=31536000" unit:"seconds" doc:"Seconds in which a request may be tried again; 0 is without limit."`
	RetryNonIdempotent  bool               `key:"retry-non-idempotent" default:"false" empty:"zero" doc:"Whether POST, LOCK and PATCH are tried again too."`
}

// Keepalive is how connections to backends are kept.
//
// nginx makes room for all that it may keep when it reads the file, once for
// each way of speaking to backends: 10 MB for 65536.
type Keepalive struct {
	// Connections is 0 to keep none.
	Connections int           `key:"upstream-keepalive-connections" default:"320" validate:"min=0,max=65536" doc:"Idle connections to backends that one worker keeps; 0 keeps none."`
	Requests    int           `key:"upstream-keepalive-requests" default:"10000" validate:"min=1,max=1000000000" doc:"Requests that one connection to a backend may carry."`
	Time        keys.Duration `key:"upstream-keepalive-time" default:"1h" doc:"Time that a connection to a backend may be used."`
	Timeout     int           `key:"upstream-keepalive-timeout" default:"60" validate:"min=1,max=31536000" unit:"seconds" doc:"Seconds that an idle connection to a backend stays open."`
}

// TLS is how clients are spoken with over HTTPS.
type TLS struct {
	Protocols keys.Words `key:"ssl-protocols" default:"TLSv1.2 TLSv1.3" validate:"dive,oneof=SSLv2 SSLv3 TLSv1 TLSv1.1 TLSv1.2 TLSv1.3" doc:"Versions of TLS that clients may use."`
	// Ciphers is empty for OpenSSL's own choice.
	Ciphers          string        `key:"ssl-ciphers" default:"ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:DHE-RSA-AES256-GCM-SHA384:DHE-RSA-AES128-GCM-SHA256" validate:"ciphers" empty:"zero" doc:"Ciphers for TLS 1.2 and older, the preferred first."`
	ECDHCurve        string        `key:"ssl-ecdh-curve" default:"auto" validate:"curves" doc:"Curves for the exchange of keys."`
	BufferSize       keys.Size     `key:"ssl-buffer-size" default:"4k" validate:"min=1,max=1073741824" doc:"Buffer for what is sent over TLS."`
	SessionCache     bool          `key:"ssl-session-cache" default:"true" empty:"zero" doc:"Whether the workers share the sessions of clients."`
	SessionCacheSize keys.Size     `key:"ssl-session-cache-size" default:"10m" validate:"min=32768,max=1073741824" doc:"Size of the shared cache of sessions; 1m holds some 4000."`
	SessionTimeout   keys.Duration `key:"ssl-session-timeout" default:"10m" doc:"Time that a session can be resumed."`
	SessionTickets   bool          `key:"ssl-session-tickets" default:"false" empty:"zero" doc:"Whether sessions are resumed by tickets that clients hold."`
	RejectHandshake  bool          `key:"ssl-reject-handshake" default:"false" empty:"zero" doc:"Whether a handshake for a host that nobody serves is refused."`
}

// HSTS is the header that keeps browsers on HTTPS (RFC 6797).
type HSTS struct {
	Enabled           bool `key:"hsts" default:"true" empty:"zero" doc:"Whether answers over HTTPS carry Strict-Transport-Security."`
	MaxAge            int  `key:"hsts-max-age" default:"31536000" validate:"min=0" unit:"seconds" doc:"Seconds that a browser remembers it."`
	IncludeSubdomains bool `key:"hsts-include-subdomains" default:"true" empty:"zero" doc:"Whether it holds for subdomains too."`
	Preload           bool `key:"hsts-preload" default:"false" empty:"zero" doc:"Whether browsers may ship it."`
}

// Redirects is when and how plain HTTP is redirected to HTTPS.
type Redirects struct {
	SSL                   bool     `key:"ssl-redirect" default:"true" empty:"zero" doc:"Whether plain HTTP is redirected on hosts with a certificate."`
	ForceSSL              bool     `key:"force-ssl-redirect" default:"false" empty:"zero" off:"false f 0 no off" protects:"true" doc:"Whether plain HTTP is redirected on hosts without a certificate too."`
	Code                  int      `key:"http-redirect-code" default:"308" validate:"oneof=301 302 307 308" doc:"Status of the redirect."`
	NoTLSLocations        []string `key:"no-tls-redirect-locations" default:"/.well-known/acme-challenge" validate:"dive,path_prefix" empty:"zero" doc:"Paths that begin with one of these are never redirected."`
	PreserveTrailingSlash bool     `key:"preserve-trailing-slash" default:"false" empty:"zero" doc:"Whether a slash at the end of the URI is kept."`
	UsePort               bool     `key:"use-port-in-redirects" default:"false" empty:"zero" doc:"Whether the redirect names the port."`
}

// Paths is how paths are matched.
type Paths struct {
	RegexScope            string `key:"regex-scope" default:"host" validate:"oneof=host path" doc:"What use-regex and rewrite-target turn into patterns: every path of the host, as ingress-nginx does, or only the paths of the Ingress that says it."`
	TrailingSlashRedirect bool   `key:"trailing-slash-redirect" default:"false" empty:"zero" doc:"Whether /foo is redirected to /foo/ where only the latter is served, as ingress-nginx does."`
}

// Hosts is whose a host is that Ingresses of several namespaces have rules for.
//
// A value that is not valid is the one that lets less through, as somebody meant to
// choose something.
type Hosts struct {
	Ownership string `key:"host-ownership" default:"shared" validate:"oneof=shared namespace" empty:"zero" invalid:"zero" instead:"a host is that of the namespace of its oldest Ingress" doc:"Whose a host is: that of every namespace with a rule for it, as with ingress-nginx, or that of the namespace of its oldest Ingress, which lets others have paths on it by the annotation sluice.io/host-delegation. Empty is namespace."`
}

// ByNamespace is true if the namespace of its oldest Ingress owns a host.
func (h Hosts) ByNamespace() bool { return h.Ownership != "shared" }

// HTTP2 is the protocol of that name.
type HTTP2 struct {
	Enabled    bool `key:"use-http2" default:"true" empty:"zero" doc:"Whether clients may use HTTP/2 over TLS."`
	MaxStreams int  `key:"http2-max-concurrent-streams" default:"128" validate:"min=1,max=100000" doc:"Requests that one connection may have open."`
}

// Listen is where nginx listens.
type Listen struct {
	DisableIPv6 bool `key:"disable-ipv6" default:"false" empty:"zero" doc:"Whether nginx leaves IPv6 out."`
	ReusePort   bool `key:"reuse-port" default:"true" empty:"zero" doc:"Whether each worker has a listening socket of its own."`
}

// Headers is what is said to clients and backends in headers.
type Headers struct {
	ServerTokens      bool `key:"server-tokens" default:"false" empty:"zero" doc:"Whether answers name nginx and its version."`
	GenerateRequestID bool `key:"generate-request-id" default:"true" empty:"zero" doc:"Whether a request without X-Request-ID gets one."`
	// Type is of what nginx answers itself.
	Type           string `key:"default-type" default:"text/html" validate:"max=100,answer_type" doc:"Content-Type of answers that bring none, which are nginx's own."`
	HashMaxSize    int    `key:"proxy-headers-hash-max-size" default:"512" validate:"min=64,max=1000000" doc:"Size of the table of headers that backends get."`
	HashBucketSize int    `key:"proxy-headers-hash-bucket-size" default:"64" validate:"min=32,max=32768" doc:"Bucket size of the table of headers that backends get."`
}

// Forwarded is what is believed of the proxies in front, and what is told to
// the backends.
type Forwarded struct {
	Use           bool       `key:"use-forwarded-headers" default:"false" empty:"zero" doc:"Whether X-Forwarded-For, -Proto, -Port and -Host are believed where they come from proxy-real-ip-cidr; else they are replaced."`
	Full          bool       `key:"compute-full-forwarded-for" default:"false" empty:"zero" doc:"Whether backends get the whole list of X-Forwarded-For with the peer at its end, and not the client's address only; needs use-forwarded-headers."`
	ForHeader     string     `key:"forwarded-for-header" default:"X-Forwarded-For" validate:"header_name" doc:"Header with the address of the client."`
	HostHeader    string     `key:"forwarded-host-header" default:"X-Forwarded-Host" validate:"header_name" doc:"Header that backends get as X-Original-Forwarded-Host."`
	Trusted       keys.CIDRs `key:"proxy-real-ip-cidr" default:"0.0.0.0/0" empty:"zero" invalid:"zero" instead:"no proxy is believed" doc:"Addresses of the proxies in front that are believed; empty is none. The default believes everybody, though an address of the client only from IPv4."`
	RealIP        bool       `key:"enable-real-ip" default:"false" empty:"zero" doc:"Whether the client's address is taken from forwarded-for-header without use-forwarded-headers too."`
	ProxyProtocol bool       `key:"use-proxy-protocol" default:"false" empty:"zero" doc:"Whether each connection begins with a PROXY header, which has the client's address; connections without one are closed."`
	OriginalURI   bool       `key:"proxy-add-original-uri-header" default:"false" empty:"zero" doc:"Whether backends get the URI before a rewrite as X-Original-URI."`
}

// Everybody is true if no proxies in front are named.
func (f Forwarded) Everybody() bool { return len(f.Trusted) == 1 && f.Trusted[0] == "0.0.0.0/0" }

// Stream is how TCP and UDP services are passed on.
type Stream struct {
	Timeout             keys.Duration      `key:"proxy-stream-timeout" default:"600s" validate:"min=1" doc:"Time between two reads or writes of a connection of a TCP service, or packets of a UDP service, after which it is closed."`
	NextUpstream        bool               `key:"proxy-stream-next-upstream" default:"true" empty:"zero" doc:"Whether a connection that an endpoint does not take is tried with another one."`
	NextUpstreamTimeout keys.Duration      `key:"proxy-stream-next-upstream-timeout" default:"600s" doc:"Time in which a connection may be tried again; 0 is without limit."`
	NextUpstreamTries   keys.Optional[int] `key:"proxy-stream-next-upstream-tries" default:"3" validate:"min=0,max=1000" doc:"How often a connection is tried; 0 is each endpoint once."`
	Responses           keys.Optional[int] `key:"proxy-stream-responses" default:"1" validate:"min=0,max=1000000" doc:"Packets that an endpoint of a UDP service answers each packet with, after which it is forgotten who asked; 0 is none."`
	HeaderTimeout       keys.Duration      `key:"proxy-protocol-header-timeout" default:"5s" validate:"min=1" doc:"Time for the PROXY header of a connection where TLS is passed through, if use-proxy-protocol is on."`
}

// Hash is the sizes of nginx's hash tables. 0 is as large as needed.
//
// nginx refuses buckets of 64k.
type Hash struct {
	VariablesBucketSize   int `key:"variables-hash-bucket-size" default:"256" validate:"min=64,max=32768" doc:"Bucket size of the table of variables."`
	VariablesMaxSize      int `key:"variables-hash-max-size" default:"2048" validate:"min=64,max=10000000" doc:"Size of the table of variables."`
	ServerNamesBucketSize int `key:"server-name-hash-bucket-size" default:"0" validate:"min=0,max=32768" doc:"Bucket size of the table of hosts; raised to what the longest host needs."`
	ServerNamesMaxSize    int `key:"server-name-hash-max-size" default:"1024" validate:"min=0,max=10000000" doc:"Size of the table of hosts; raised to what the hosts need."`
	MapBucketSize         int `key:"map-hash-bucket-size" default:"64" validate:"min=32,max=32768" doc:"Bucket size of the tables of maps."`
}

// Patterns is how hard nginx tries to match the patterns of Ingresses.
type Patterns struct {
	MatchLimit int `key:"pcre-match-limit" default:"20000" validate:"min=20000,max=10000000" doc:"How many steps PCRE takes to match one pattern of a path or a rewrite with one request, before nginx answers 500 and tries no other path; the default takes some 0.04 s at worst, and other numbers in proportion."`
}

// Access is who may come in, where no annotation says otherwise.
type Access struct {
	DenyList  keys.CIDRs `key:"denylist-source-range" empty:"zero" protects:"true" doc:"Addresses that may not reach the paths of Ingresses without a list of their own; empty is nobody."`
	AllowList keys.CIDRs `key:"whitelist-source-range" empty:"zero" protects:"true" doc:"Addresses that may reach the paths of Ingresses without a list of their own; empty is everybody."`
	// PasswordCost is measured in costs of bcrypt.
	PasswordCost int `key:"password-hash-max-cost" default:"10" validate:"min=8,max=14" doc:"Highest cost of the hashes of passwords in the Secrets of users, as of bcrypt: 10 takes some 50 ms, in which a worker of nginx serves nobody else, and each step doubles it. Users with a costlier hash cannot come in."`
}

// Annotations is what annotations may do.
type Annotations struct {
	ResponseHeaders []string  `key:"global-allowed-response-headers" empty:"zero" validate:"dive,response_header" doc:"Names of the headers that the annotation custom-headers may add to answers, in any case."`
	AllowSnippets   bool      `key:"allow-snippet-annotations" default:"false" empty:"zero" doc:"Whether Ingresses may have snippets; annotations-risk-level has to be Critical, too."`
	RiskLevel       keys.Risk `key:"annotations-risk-level" default:"High" empty:"zero" invalid:"zero" instead:"annotations of a higher risk than Low are left out" doc:"Highest risk of an annotation that is followed."`
}
