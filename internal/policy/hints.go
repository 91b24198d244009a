package policy

import (
	"cmp"
	"fmt"

	"sluice/internal/keys"
)

// gone are the annotations that ingress-nginx no longer reads, with the first
// release without them and what to write instead.
// Source: https://github.com/kubernetes/ingress-nginx/tree/main/cmd/plugin/lints and
// the notes of release 1.10.0
var gone = map[string]struct{ since, instead string }{
	"add-base-url":                    {"0.22.0", ""},
	"base-url-scheme":                 {"0.22.0", ""},
	"enable-opentracing":              {"1.10.0", ""},
	"grpc-backend":                    {"0.21.0", `backend-protocol: "GRPC"`},
	"mirror-uri":                      {"0.28.1", "mirror-target"},
	"opentracing-operation-name":      {"1.10.0", ""},
	"opentracing-trust-incoming-span": {"1.10.0", ""},
	"secure-backends":                 {"0.21.0", `backend-protocol: "HTTPS"`},
	"session-cookie-hash":             {"0.24.0", ""},
}

// otherwise are the names under which some annotations are looked for, after the
// directives of nginx or other controllers, with those that they have.
var otherwise = map[string]string{
	"basic-auth-secret":    "auth-secret",
	"canary-by-weight":     "canary-weight",
	"client-max-body-size": "proxy-body-size",
	"limit-burst":          "limit-burst-multiplier",
	"lb-method":            "load-balance",
	"limit-req-rate":       "limit-rps",
	"max-body-size":        "proxy-body-size",
	"path-regex":           "use-regex",
	"rate-limit-rpm":       "limit-rpm",
	"rate-limit-rps":       "limit-rps",
	"rewrite":              "rewrite-target",
	"rewrites":             "rewrite-target",
	"redirect-to-https":    "force-ssl-redirect",
}

// hintOf says of a name that nobody reads what became of it, or where it counts; it
// is empty where there is nothing to say.
func hintOf(name string) string {
	if was, ok := gone[name]; ok {
		return fmt.Sprintf("ingress-nginx reads this annotation no more since %s: %s", was.since, cmp.Or(insteadOf(was.instead), "remove it"))
	}
	if right := otherwise[name]; right != "" {
		return "no annotation has this name" + keys.DidYouMean(right)
	}
	if settingNames[name] {
		return "this is a setting: it counts in the ConfigMap of the controller, and not as an annotation"
	}
	return ""
}

func insteadOf(annotation string) string {
	if annotation == "" {
		return ""
	}
	return "write " + annotation + " instead"
}
