// Package settings reads the controller's ConfigMap. It takes the object, and returns
// typed values in groups, the blocks of nginx.conf above the servers, and a Problem for
// each key that has no effect as written.
//
// A key with an invalid value has its default, and does not affect other keys. Keys,
// defaults and meanings are those of ingress-nginx. The tags of the fields document them
// (see package keys).
package settings

import "sluice/internal/keys"

// Settings holds all settings.
type Settings struct {
	Workers       Workers
	Memory        Memory
	Client        Client
	Proxy         Proxy
	GRPC          GRPC
	Balancing     Balancing
	Keepalive     Keepalive
	TLS           TLS
	Tickets       Tickets
	HSTS          HSTS
	Redirects     Redirects
	Answers       Answers
	Status        Status
	Paths         Paths
	Hosts         Hosts
	Bounds        Bounds
	Targets       Targets
	HTTP2         HTTP2
	HTTP3         HTTP3
	Listen        Listen
	Headers       Headers
	GlobalHeaders GlobalHeaders
	Errors        Errors
	Forwarded     Forwarded
	LogFormat     LogFormat
	StreamLog     StreamLog
	Log           Log
	Tracing       Tracing
	DebugHeader   DebugHeader
	ModSecurity   ModSecurity
	Stream        Stream
	Gzip          Gzip
	Brotli        Brotli
	GeoIP         GeoIP
	Hash          Hash
	Patterns      Patterns
	Access        Access
	BlockLists    BlockLists
	Auth          Auth
	Limits        ClientLimits
	Annotations   Annotations
	Defaults      Defaults

	MainSnippet      MainSnippet
	HTTPSnippet      HTTPSnippet
	ServersSnippet   ServersSnippet
	LocationsSnippet LocationsSnippet
	StreamsSnippet   StreamsSnippet

	source *source
	// namespace holds the annotations of the Namespace, if these settings are for its
	// Ingresses; nil otherwise.
	namespace *namespace
	// replicas is the number of replicas that share the limits of clients, 0 for one.
	replicas int
}

// WithReplicas returns the settings for one of several replicas.
func (s *Settings) WithReplicas(replicas int) *Settings {
	shared := *s
	shared.replicas = replicas
	return &shared
}

// Share returns the part of a limit for one replica, rounded up.
func (s *Settings) Share(limit int) int {
	replicas := max(s.replicas, 1)
	return (limit + replicas - 1) / replicas
}

// Client configures connections of clients.
//
// Each connection can allocate its buffers. More than a gigabyte is probably a mistake,
// such as "8g" for "8k".
type Client struct {
	KeepAlive          int          `key:"keep-alive" default:"75" validate:"min=0,max=31536000" unit:"seconds" doc:"Seconds that an idle connection of a client stays open. 0 closes it after each answer."`
	KeepAliveRequests  int          `key:"keep-alive-requests" default:"1000" validate:"min=1,max=1000000000" doc:"Maximum number of requests on one connection of a client."`
	HeaderBufferSize   keys.Size    `key:"client-header-buffer-size" default:"1k" validate:"min=1,max=1073741824" doc:"Buffer for the header of a request."`
	LargeHeaderBuffers keys.Buffers `key:"large-client-header-buffers" default:"4 8k" doc:"Number and size of the buffers for large headers of requests."`
	BodyBufferSize     keys.Size    `key:"client-body-buffer-size" default:"8k" validate:"min=1,max=16777216" doc:"Buffer for the body of a request. A larger body goes to a file. Each request can use one buffer, so the maximum is 16m."`
	HeaderTimeout      int          `key:"client-header-timeout" default:"60" validate:"min=1,max=31536000" unit:"seconds" doc:"Seconds that a client has to send the header of a request."`
	BodyTimeout        int          `key:"client-body-timeout" default:"60" validate:"min=1,max=31536000" unit:"seconds" doc:"Seconds between two reads of the body of a request."`
	IgnoreInvalid      bool         `key:"ignore-invalid-headers" default:"true" empty:"zero" doc:"Whether nginx drops request headers with a name that has other characters than letters, digits and -."`
	Underscores        bool         `key:"enable-underscores-in-headers" default:"false" empty:"zero" doc:"Whether underscores are valid in the names of request headers."`
}

// Proxy configures requests to backends. Annotations can override it.
type Proxy struct {
	ConnectTimeout      int                `key:"proxy-connect-timeout" default:"5" validate:"min=1,max=31536000" unit:"seconds" doc:"Seconds to connect to a backend."`
	SendTimeout         int                `key:"proxy-send-timeout" default:"60" validate:"min=1,max=31536000" unit:"seconds" doc:"Seconds between two writes to a backend."`
	ReadTimeout         int                `key:"proxy-read-timeout" default:"60" validate:"min=1,max=31536000" unit:"seconds" doc:"Seconds between two reads from a backend."`
	BodySize            keys.Size          `key:"proxy-body-size" default:"1m" doc:"Largest body of a request. 0 means no limit."`
	Buffering           string             `key:"proxy-buffering" default:"off" validate:"oneof=on off" doc:"Whether nginx buffers answers."`
	BufferSize          keys.Size          `key:"proxy-buffer-size" default:"4k" validate:"min=1,max=16777216" doc:"Buffer for the first part of an answer, and the size of the other buffers."`
	BuffersNumber       int                `key:"proxy-buffers-number" default:"4" validate:"min=2,max=1024" doc:"Number of buffers for an answer."`
	BusyBuffers         keys.Size          `key:"proxy-busy-buffers-size" validate:"min=1,max=33554432" doc:"Size of the buffers that can be on their way to the client while nginx still reads the answer: from one buffer to all but one. Default: two buffers."`
	RequestBuffering    string             `key:"proxy-request-buffering" default:"on" validate:"oneof=on off" doc:"Whether nginx reads a whole request before it passes it on."`
	MaxTempFileSize     keys.Size          `key:"proxy-max-temp-file-size" default:"1024m" doc:"Largest file for an answer that does not fit the buffers. 0 means no file. A smaller size than a buffer counts as the size of a buffer."`
	NextUpstream        keys.Words         `key:"proxy-next-upstream" default:"error timeout" validate:"dive,oneof=error timeout invalid_header http_500 http_502 http_503 http_504 http_403 http_404 http_429 non_idempotent off" doc:"What makes nginx try another endpoint."`
	NextUpstreamTries   keys.Optional[int] `key:"proxy-next-upstream-tries" default:"3" validate:"min=0,max=1000" doc:"How often nginx tries a request, at most 16 times. 0 means once for each endpoint."`
	NextUpstreamTimeout keys.Optional[int] `key:"proxy-next-upstream-timeout" default:"0" validate:"min=0,max=31536000" unit:"seconds" doc:"Seconds in which nginx may try a request again. 0 means no limit."`
	HTTPVersion         string             `key:"proxy-http-version" default:"1.1" validate:"oneof=1.0 1.1" doc:"Version of HTTP for requests to the backends. With 1.0, WebSockets do not work and no connection is kept."`
	RetryNonIdempotent  bool               `key:"retry-non-idempotent" default:"false" empty:"zero" doc:"Whether nginx also tries POST, LOCK and PATCH again."`
}

// GRPC configures gRPC backends.
type GRPC struct {
	BufferSize int `key:"grpc-buffer-size-kb" default:"0" validate:"min=0,max=1048576" doc:"Buffer for an answer of a gRPC backend, in kilobytes. 0 means proxy-buffer-size."`
}

// Balancing configures how requests are spread over endpoints. Annotations can override
// it.
type Balancing struct {
	Algorithm       string `key:"load-balance" default:"round_robin" validate:"oneof=round_robin ewma least_conn" doc:"Way to choose an endpoint: in turn (round_robin), the faster of two (ewma), or the one with the fewest requests (least_conn)."`
	ServiceUpstream bool   `key:"service-upstream" default:"false" empty:"zero" doc:"Whether nginx sends requests to the cluster address of a Service instead of its endpoints."`
	DisableIPv6DNS  bool   `key:"disable-ipv6-dns" default:"false" empty:"zero" doc:"Whether DNS names of backends, such as those of ExternalName Services and of auth-url, have IPv4 addresses only. Otherwise a name without an IPv4 address has its IPv6 addresses."`
}

// Keepalive configures idle connections to backends.
//
// When nginx reads the file, it allocates memory for all of them, once for each transport:
// 0.6 MB by default, and 10 MB for 65536.
type Keepalive struct {
	Connections int           `key:"upstream-keepalive-connections" default:"320" validate:"min=0,max=65536" doc:"Idle connections to backends that one worker keeps in a pool. There are 16 pools, and a Service is always in the same one. All pools together keep at most a quarter of max-worker-connections, or this number if it is higher. 0 keeps none."`
	Requests    int           `key:"upstream-keepalive-requests" default:"10000" validate:"min=1,max=1000000000" doc:"Maximum number of requests on one connection to a backend."`
	Time        keys.Duration `key:"upstream-keepalive-time" default:"1h" doc:"Maximum age of a connection to a backend."`
	Timeout     int           `key:"upstream-keepalive-timeout" default:"60" validate:"min=1,max=31536000" unit:"seconds" doc:"Seconds that an idle connection to a backend stays open."`
}

// TLS configures HTTPS.
type TLS struct {
	Protocols keys.Words `key:"ssl-protocols" default:"TLSv1.2 TLSv1.3" validate:"dive,oneof=SSLv2 SSLv3 TLSv1 TLSv1.1 TLSv1.2 TLSv1.3" doc:"Versions of TLS that clients may use."`
	// Ciphers is empty for the default of OpenSSL.
	Ciphers          string        `key:"ssl-ciphers" default:"ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:DHE-RSA-AES256-GCM-SHA384:DHE-RSA-AES128-GCM-SHA256" validate:"ciphers" empty:"zero" doc:"Ciphers for TLS 1.2 and older, the preferred first."`
	ECDHCurve        string        `key:"ssl-ecdh-curve" default:"auto" validate:"curves" doc:"Curves for the key exchange."`
	BufferSize       keys.Size     `key:"ssl-buffer-size" default:"4k" validate:"min=1,max=1073741824" doc:"Buffer for data that nginx sends over TLS."`
	SessionCache     bool          `key:"ssl-session-cache" default:"true" empty:"zero" doc:"Whether the workers share the TLS sessions of clients."`
	SessionCacheSize keys.Size     `key:"ssl-session-cache-size" default:"10m" validate:"min=32768,max=1073741824" doc:"Size of the shared session cache. 1m holds about 4000 sessions."`
	SessionTimeout   keys.Duration `key:"ssl-session-timeout" default:"10m" doc:"Time for which a client can resume a session."`
	SessionTickets   bool          `key:"ssl-session-tickets" default:"false" empty:"zero" doc:"Whether clients can resume sessions with tickets."`
	// SharedTickets is set if the tickets are encrypted with the key of Tickets.
	SharedTickets   bool
	EarlyData       bool   `key:"ssl-early-data" default:"false" empty:"zero" doc:"Whether clients can send a request in the first packets of a resumed TLS 1.3 session. Others can repeat such a request. Backends get it with Early-Data: 1."`
	DHParam         string `key:"ssl-dh-param" validate:"secret_ref" doc:"Secret whose key dhparam.pem has the Diffie-Hellman parameters for DHE ciphers, of 2048 to 8192 bits. Without it, clients get no DHE cipher."`
	OCSP            bool   `key:"enable-ocsp" default:"false" empty:"zero" doc:"Whether nginx staples OCSP responses, which Sluice asks for at the responder that a certificate names."`
	RejectHandshake bool   `key:"ssl-reject-handshake" default:"false" empty:"zero" doc:"Whether nginx rejects TLS handshakes for hosts that no Ingress has."`
}

// Tickets has the key of session tickets. It is no part of TLS, which is in nginx.conf.
type Tickets struct {
	Key keys.TicketKey `key:"ssl-session-ticket-key" needs:"ssl-session-tickets" secret:"true" doc:"Key that encrypts session tickets, as 48 or 80 random bytes in base64. Replicas with the same key resume each other's sessions. Without it, nginx makes a random key."`
}

// HSTS configures the header that keeps browsers on HTTPS (RFC 6797).
type HSTS struct {
	Enabled           bool `key:"hsts" default:"true" empty:"zero" doc:"Whether answers over HTTPS carry Strict-Transport-Security."`
	MaxAge            int  `key:"hsts-max-age" default:"31536000" validate:"min=0" unit:"seconds" doc:"Seconds for which a browser remembers the header."`
	IncludeSubdomains bool `key:"hsts-include-subdomains" default:"true" empty:"zero" doc:"Whether the header also applies to subdomains."`
	Preload           bool `key:"hsts-preload" default:"false" empty:"zero" doc:"Whether browsers may include the host in their preload list."`
}

// Redirects configures the redirects from plain HTTP to HTTPS.
type Redirects struct {
	SSL                   bool     `key:"ssl-redirect" default:"true" empty:"zero" doc:"Whether plain HTTP is redirected on hosts with a certificate."`
	ForceSSL              bool     `key:"force-ssl-redirect" default:"false" empty:"zero" off:"false f 0 no off" protects:"true" doc:"Whether plain HTTP is redirected on hosts without a certificate too."`
	Code                  int      `key:"http-redirect-code" default:"308" validate:"oneof=301 302 307 308" doc:"Status of the redirect."`
	NoTLSLocations        []string `key:"no-tls-redirect-locations" default:"/.well-known/acme-challenge" validate:"dive,path_prefix" empty:"zero" permits:"true" doc:"Prefixes of paths that are never redirected."`
	PreserveTrailingSlash bool     `key:"preserve-trailing-slash" default:"false" empty:"zero" doc:"Whether the redirect keeps a slash at the end of the URI."`
	UsePort               bool     `key:"use-port-in-redirects" default:"false" empty:"zero" doc:"Whether redirects contain the port, and those to HTTPS the port for HTTPS."`
	Relative              bool     `key:"relative-redirects" default:"false" empty:"zero" doc:"Whether redirects without a host in their URL stay so. Otherwise nginx adds scheme and host."`
}

// Answers changes the headers of answers that name the backend: cookies and redirects.
type Answers struct {
	CookieDomain string `key:"proxy-cookie-domain" default:"off" off:"off" validate:"from_to" doc:"Domain of cookies to replace, and its replacement, such as \"app.internal example.com\"."`
	CookiePath   string `key:"proxy-cookie-path" default:"off" off:"off" validate:"from_to" doc:"Beginning of the path of cookies to replace, and its replacement, such as \"/app/ /\"."`
	RedirectFrom string `key:"proxy-redirect-from" default:"off" off:"off default" validate:"url_text" doc:"Beginning of the header Location of answers that proxy-redirect-to replaces."`
	RedirectTo   string `key:"proxy-redirect-to" default:"off" off:"off" validate:"url_text" doc:"Replacement for proxy-redirect-from."`
}

// Paths configures the matching of paths.
type Paths struct {
	RegexScope            string `key:"regex-scope" default:"host" validate:"oneof=host path" doc:"Which paths use-regex and rewrite-target turn into patterns: all paths of the host, as in ingress-nginx, or only those of the Ingress with the annotation."`
	TrailingSlashRedirect bool   `key:"trailing-slash-redirect" default:"false" empty:"zero" doc:"Whether nginx redirects /foo to /foo/ if only the latter is served, as in ingress-nginx."`
}

// Hosts configures the ownership of hosts with rules in several namespaces. An invalid
// value counts as the stricter one.
type Hosts struct {
	Ownership string `key:"host-ownership" default:"shared" validate:"oneof=shared namespace" empty:"zero" invalid:"zero" instead:"a host is that of the namespace of its oldest Ingress" permits:"true" doc:"Who owns a host: with shared, every namespace with a rule for it, as in ingress-nginx; with namespace, only the namespace of its oldest Ingress, which can let others have paths by the annotation sluice.io/host-delegation. Empty means namespace."`
}

// ByNamespace reports whether the namespace of its oldest Ingress owns a host.
func (h Hosts) ByNamespace() bool { return h.Ownership != "shared" }

// Listen configures the sockets of nginx.
type Listen struct {
	DisableIPv6 bool     `key:"disable-ipv6" default:"false" empty:"zero" doc:"Whether nginx listens on IPv4 only."`
	Addresses   []string `key:"bind-address" empty:"zero" protects:"true" validate:"max=16,dive,ip,address" doc:"IP addresses on which nginx listens for HTTP, HTTPS and TCP and UDP services, separated by commas, at most 16. It listens on no others. With disable-ipv6, IPv6 addresses count only if there is no other. Empty means all addresses."`
	ReusePort   bool     `key:"reuse-port" default:"true" empty:"zero" doc:"Whether each worker has its own listening socket."`
}

// Headers configures headers for clients and backends.
type Headers struct {
	ServerTokens      bool   `key:"server-tokens" default:"false" empty:"zero" doc:"Whether answers contain the name and version of nginx."`
	GenerateRequestID bool   `key:"generate-request-id" default:"true" empty:"zero" doc:"Whether a request without X-Request-ID gets one."`
	Type              string `key:"default-type" default:"text/html" validate:"max=100,answer_type" doc:"Content-Type of answers without one, which are those of nginx itself."`
	HashMaxSize       int    `key:"proxy-headers-hash-max-size" default:"512" validate:"min=64,max=1000000" doc:"Size of the hash table of headers for backends."`
	HashBucketSize    int    `key:"proxy-headers-hash-bucket-size" default:"64" validate:"min=32,max=32768" doc:"Bucket size of the hash table of headers for backends."`
}

// Errors has the default backend answer in place of errors. Annotations can override the
// statuses.
type Errors struct {
	Codes   []string `key:"custom-http-errors" validate:"max=60,dive,answer_status" doc:"Statuses in place of which the default backend answers, on each path without the annotation custom-http-errors. At most 60."`
	OnlyOwn bool     `key:"disable-proxy-intercept-errors" default:"false" empty:"zero" doc:"Whether answers of backends stay, so that custom-http-errors replaces only errors of nginx itself."`
}

// Forwarded configures which proxies in front are trusted, and the headers that tell
// backends about the client.
type Forwarded struct {
	Use           bool       `key:"use-forwarded-headers" default:"false" empty:"zero" doc:"Whether nginx trusts X-Forwarded-For, -Proto, -Port and -Host from the addresses in proxy-real-ip-cidr. Otherwise it replaces them."`
	Full          bool       `key:"compute-full-forwarded-for" default:"false" empty:"zero" doc:"Whether backends get the whole X-Forwarded-For with the address of the peer at its end, instead of only the address of the client. Needs use-forwarded-headers."`
	ForHeader     string     `key:"forwarded-for-header" default:"X-Forwarded-For" validate:"header_name" doc:"Header with the address of the client."`
	HostHeader    string     `key:"forwarded-host-header" default:"X-Forwarded-Host" validate:"header_name" doc:"Header that backends get as X-Original-Forwarded-Host."`
	Trusted       keys.CIDRs `key:"proxy-real-ip-cidr" default:"0.0.0.0/0" empty:"zero" invalid:"zero" instead:"no proxy is believed" doc:"Addresses of trusted proxies. Empty trusts none. The default trusts every peer, but takes the address of a client only from IPv4 peers."`
	RealIP        bool       `key:"enable-real-ip" default:"false" empty:"zero" doc:"Whether nginx takes the address of the client from forwarded-for-header even without use-forwarded-headers."`
	ProxyProtocol bool       `key:"use-proxy-protocol" default:"false" empty:"zero" doc:"Whether each connection begins with a PROXY header that has the address of the client. nginx closes connections without one."`
	OriginalURI   bool       `key:"proxy-add-original-uri-header" default:"false" empty:"zero" doc:"Whether backends get the URI before a rewrite as X-Original-URI."`
}

// Everybody reports whether every IPv4 address is trusted.
func (f Forwarded) Everybody() bool { return len(f.Trusted) == 1 && f.Trusted[0] == "0.0.0.0/0" }

// Stream configures TCP and UDP services.
type Stream struct {
	Timeout             keys.Duration      `key:"proxy-stream-timeout" default:"600s" validate:"min=1" doc:"Maximum time between two reads or writes of a TCP connection, or two packets of UDP. After it, nginx closes the connection."`
	NextUpstream        bool               `key:"proxy-stream-next-upstream" default:"true" empty:"zero" doc:"Whether nginx tries another endpoint if a connection fails."`
	NextUpstreamTimeout keys.Duration      `key:"proxy-stream-next-upstream-timeout" default:"600s" doc:"Time in which nginx may try a connection again. 0 means no limit."`
	NextUpstreamTries   keys.Optional[int] `key:"proxy-stream-next-upstream-tries" default:"3" validate:"min=0,max=1000" doc:"How often nginx tries a connection. 0 means once for each endpoint."`
	Responses           keys.Optional[int] `key:"proxy-stream-responses" default:"1" validate:"min=0,max=1000000" doc:"Number of packets with which an endpoint of a UDP service answers each packet. After them, nginx forgets the client. 0 means no answer."`
	HeaderTimeout       keys.Duration      `key:"proxy-protocol-header-timeout" default:"5s" validate:"min=1" doc:"Time for the PROXY header of a connection whose TLS is passed through, if use-proxy-protocol is on."`
}

// Hash configures the sizes of nginx's hash tables. 0 means as large as necessary. nginx
// rejects buckets of 64k.
type Hash struct {
	VariablesBucketSize   int `key:"variables-hash-bucket-size" default:"256" validate:"min=64,max=32768" doc:"Bucket size of the hash table of variables."`
	VariablesMaxSize      int `key:"variables-hash-max-size" default:"2048" validate:"min=64,max=10000000" doc:"Size of the hash table of variables."`
	ServerNamesBucketSize int `key:"server-name-hash-bucket-size" default:"0" validate:"min=0,max=32768" doc:"Bucket size of the hash table of hosts. Sluice raises it if the longest host needs more."`
	ServerNamesMaxSize    int `key:"server-name-hash-max-size" default:"1024" validate:"min=0,max=10000000" doc:"Size of the hash table of hosts. Sluice raises it if the hosts need more."`
	MapBucketSize         int `key:"map-hash-bucket-size" default:"64" validate:"min=32,max=32768" doc:"Bucket size of the hash tables of maps."`
}

// Patterns limits the matching of patterns.
type Patterns struct {
	MatchLimit int `key:"pcre-match-limit" default:"20000" validate:"min=20000,max=10000000" doc:"Maximum number of steps in which PCRE matches one pattern of a path or rewrite with one request. Beyond it, nginx returns 500 and tries no other path. The default takes at most about 0.04 s; the time grows with the number."`
}

// Access restricts clients. Annotations can override the lists.
type Access struct {
	DenyList     keys.CIDRs `key:"denylist-source-range" empty:"zero" protects:"true" doc:"Addresses that may not reach the paths of Ingresses without their own list. Empty means no address."`
	AllowList    keys.CIDRs `key:"whitelist-source-range" empty:"zero" protects:"true" doc:"Addresses that may reach the paths of Ingresses without their own list. Empty means every address."`
	PasswordCost int        `key:"password-hash-max-cost" default:"10" validate:"min=8,max=14" permits:"true" doc:"Highest cost of the password hashes in Secrets of users, as for bcrypt. A check with cost 10 takes about 50 ms, in which the nginx worker serves no other request; each step doubles it. Users with a higher cost cannot log in."`
}

// Annotations restricts annotations.
type Annotations struct {
	ResponseHeaders []string  `key:"global-allowed-response-headers" empty:"zero" validate:"dive,response_header" permits:"true" doc:"Names of the headers that the annotation custom-headers may add to answers, in any case."`
	WordBlocklist   []string  `key:"annotation-value-word-blocklist" empty:"zero" closes:"true" permits:"true" doc:"Words, separated by commas, that no annotation may contain. If one does, all paths of its Ingress return 503."`
	CrossNamespace  bool      `key:"allow-cross-namespace-resources" default:"false" empty:"zero" permits:"true" doc:"Whether the annotations of an Ingress may name Secrets and ConfigMaps of all namespaces. Otherwise those of another namespace have to delegate themselves."`
	StrictPathType  bool      `key:"strict-validate-path-type" default:"true" empty:"zero" doc:"Whether sluice lint reports paths of type Exact and Prefix with other characters than letters, digits and / . _ - in them. They are served in any case."`
	AllowSnippets   bool      `key:"allow-snippet-annotations" default:"false" empty:"zero" permits:"true" doc:"Whether Ingresses may have snippets. This also needs annotations-risk-level: Critical."`
	RiskLevel       keys.Risk `key:"annotations-risk-level" default:"High" empty:"zero" invalid:"zero" instead:"annotations of a higher risk than Low are left out" permits:"true" doc:"Highest risk of annotations that Sluice follows."`
}
