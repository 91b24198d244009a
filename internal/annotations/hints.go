package annotations

import "sluice/internal/keys"

// gone are the annotations that ingress-nginx no longer reads, with the first release
// without them and the replacement.
// Source: https://github.com/kubernetes/ingress-nginx/tree/main/cmd/plugin/lints and
// the notes of release 1.10.0
var gone = map[string]keys.Gone{
	"add-base-url":                    {Since: "0.22.0"},
	"base-url-scheme":                 {Since: "0.22.0"},
	"enable-opentracing":              {Since: "1.10.0"},
	"global-rate-limit":               {Since: "1.12.0", Instead: "limit-rps or limit-rpm"},
	"global-rate-limit-ignored-cidrs": {Since: "1.12.0", Instead: "limit-allowlist"},
	"global-rate-limit-key":           {Since: "1.12.0", Instead: OwnPrefix + "limit-by"},
	"global-rate-limit-window":        {Since: "1.12.0", Instead: "limit-rps for seconds, or limit-rpm for minutes"},
	"grpc-backend":                    {Since: "0.21.0", Instead: `backend-protocol: "GRPC"`},
	"mirror-uri":                      {Since: "0.28.1", Instead: "mirror-target"},
	"opentracing-operation-name":      {Since: "1.10.0"},
	"opentracing-trust-incoming-span": {Since: "1.10.0"},
	"secure-backends":                 {Since: "0.21.0", Instead: `backend-protocol: "HTTPS"`},
	"session-cookie-hash":             {Since: "0.24.0"},
}

// otherwise maps names from nginx and other controllers, under which users look for
// annotations, to the right names.
var otherwise = map[string]string{
	"basic-auth-secret":     "auth-secret",
	"canary-by-weight":      "canary-weight",
	"canary-enabled":        "canary",
	"enable-canary":         "canary",
	"client-max-body-size":  "proxy-body-size",
	"limit-burst":           "limit-burst-multiplier",
	"lb-method":             "load-balance",
	"limit-req-rate":        "limit-rps",
	"max-body-size":         "proxy-body-size",
	"path-regex":            "use-regex",
	"rate-limit-rpm":        "limit-rpm",
	"rate-limit-rps":        "limit-rps",
	"rewrite":               "rewrite-target",
	"rewrites":              "rewrite-target",
	"redirect-to-https":     "force-ssl-redirect",
	"upstream-fail-timeout": "fail-timeout",
	"upstream-max-fails":    "max-fails",
}
