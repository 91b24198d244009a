package random

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sluice/test/recorded"
)

// servedCauses are about requests that both serve, or that one of both answers itself.
var servedCauses = []cause{
	{"Prefix `/foo/`, request `/foo`", func(a *asked, place string) bool {
		path, _, _ := strings.Cut(a.call().Path, "?")
		decoded, err := url.PathUnescape(path)
		winner := a.explained().Winner
		return place == "/status" && a.want.Status == 301 && err == nil && winner != nil && winner.Path == decoded+"/"
	}},
	{"`spec.defaultBackend` beside rules without a host", func(a *asked, _ string) bool {
		in := a.owner()
		return a.field() == "spec.defaultBackend" && len(a.rules(in)) > 0 && !slices.ContainsFunc(a.rules(in), func(r recorded.Rule) bool { return a.covers(r.Host) })
	}},
	{"the cookie of `affinity` at a `spec.defaultBackend`", func(a *asked, place string) bool {
		return strings.HasPrefix(place, "/cookies") && a.field() == "spec.defaultBackend" && a.owner().Annotations["affinity"] == "cookie"
	}},
	{"cookies of two Ingresses with one Service", func(a *asked, place string) bool {
		return strings.HasPrefix(place, "/cookies") && a.owner().Annotations["affinity"] == "" && slices.ContainsFunc(a.world.Ingresses, func(in recorded.Ingress) bool {
			return in.Annotations["affinity"] == "cookie" && a.uses(&in, a.service())
		})
	}},
	{"two Ingresses of a host with different `app-root`", func(a *asked, place string) bool {
		return place == "/headers/Location" && strings.HasSuffix(a.field(), "/app-root") && len(a.values("app-root")) > 1
	}},
	{"`use-port-in-redirects` where HTTPS has port 443", func(a *asked, place string) bool {
		port := regexp.MustCompile(`:[0-9]+(/|$)`)
		named := a.world.Config["use-port-in-redirects"] == "true" || len(a.values("use-port-in-redirects")) > 0
		want, got := a.want.Headers["Location"], a.got.Headers["Location"]
		return place == "/headers/Location" && named && strings.Contains(want, ":443") && port.ReplaceAllString(want, "$1") == port.ReplaceAllString(got, "$1")
	}},
	{"headers of CORS on a 413", func(a *asked, place string) bool {
		return strings.HasPrefix(place, "/headers/Access-Control-") && a.want.Status == 413 && a.got.Status == 413
	}},
	{"headers of a `configuration-snippet` on a 404", func(a *asked, place string) bool {
		header, is := strings.CutPrefix(place, "/headers/")
		unserved := a.got.Status == 404 && a.want.Status == 404 && len(a.got.Hits) == 0
		return is && unserved && a.intercepts("404") && strings.Contains(a.owner().Annotations["configuration-snippet"], header+":")
	}},
	{"a canary whose main Service has no endpoint", func(a *asked, place string) bool {
		return place == "/status" && a.want.Status == 503 && a.got.Status < 500 && a.around(func(in *recorded.Ingress) bool {
			return in.Annotations["canary-weight"] == "100" && len(a.got.Hits) > 0 && a.uses(in, podOf(a.got.Hits[0].By))
		})
	}},
	{"the paths that share with a canary", func(a *asked, place string) bool {
		if place != "/hits/0/by" || len(a.want.Hits) == 0 {
			return false
		}
		return slices.ContainsFunc(a.world.Ingresses, func(in recorded.Ingress) bool {
			return in.Annotations["canary"] == "true" && a.uses(&in, podOf(a.want.Hits[0].By)) && !a.uses(a.owner(), podOf(a.want.Hits[0].By))
		})
	}},
	{"a Service without endpoints with `default-backend`", func(a *asked, place string) bool {
		return strings.HasSuffix(place, "/headers/X-Request-Id") && a.owner().Annotations["default-backend"] == a.service() && a.service() != ""
	}},
	{"headers and HTTP version of requests to the error", func(a *asked, place string) bool {
		parts := strings.Split(place, "/")
		if len(parts) < 4 || parts[1] != "hits" {
			return false
		}
		n, err := strconv.Atoi(parts[2])
		return err == nil && n < len(a.got.Hits) && podOf(a.got.Hits[n].By) == a.owner().Annotations["default-backend"] && a.owner().Annotations["custom-http-errors"] != ""
	}},
}

// podOf is the Service of a pod, such as "a-0".
func podOf(pod string) string {
	at := strings.LastIndex(pod, "-")
	return pod[:max(at, 0)]
}

// statusOf is the status of an answer as a setting has it.
func statusOf(answer recorded.Answer) string { return strconv.Itoa(answer.Status) }
