package lint

import (
	"slices"
	"strings"
	"testing"

	"sluice/internal/model"
)

// ofSluice is a Deployment of Sluice with other folders than the chart's.
const ofSluice = `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: sluice, namespace: ingress}
spec: {template: {spec: {
  containers: [{command: [/usr/bin/sluice], args: [run, --configmap=ingress/sluice], securityContext: {readOnlyRootFilesystem: true},
    volumeMounts: [{name: state, mountPath: /var/lib/sluice}, {name: large, mountPath: /data/}, {name: tmp, mountPath: /tmp}, {name: pages, mountPath: /pages}, {name: fixed, mountPath: /fixed, readOnly: true}]}],
  volumes: [{name: state, emptyDir: {}}, {name: large, emptyDir: {sizeLimit: 20Gi}}, {name: tmp, ephemeral: {}}, {name: pages, configMap: {name: pages}}, {name: fixed, emptyDir: {}}]}}}
`

// diskTexts returns the findings about files of settings, without their beginning.
func diskTexts(t *testing.T, key, value, more string) string {
	t.Helper()
	o := options(t)
	o.AllowEmpty, o.Translate.ConfigMap.Namespace, o.Translate.ConfigMap.Name = true, "ingress", "sluice"
	o.Environment.Capabilities.Stream, o.Environment.Capabilities.StreamRealIP = true, true
	text := configMap("ingress", "sluice") + "data:\n  " + key + ": |\n    " + strings.ReplaceAll(value, "\n", "\n    ") + "\n" + more
	var lines []string
	for _, f := range Look(read(text), o).Findings {
		if f.Severity != Error || f.Object.Name != "sluice" || f.Field != key {
			t.Errorf("%s: %s", value, f)
		}
		lines = append(lines, f.Text)
	}
	return strings.Join(lines, "\n")
}

// A file or a folder that the pod cannot write, or a cache that outgrows its folder, is an error
// that names what would be valid.
func TestFilesOfSettings(t *testing.T) {
	t.Parallel()
	const chart = "/var/cache/nginx (1Gi) or /tmp (256Mi), the folders of the chart"
	const volumes = " (controller.extraVolumes and extraVolumeMounts of the chart)"
	for _, test := range []struct{ key, value, more, want string }{
		{"http-snippet", "proxy_cache_path /tmp/pages levels=1:2 keys_zone=pages:2m max_size=100m use_temp_path=off;", "", ""},
		{"http-snippet", "fastcgi_cache_path /var/cache/nginx/pages keys_zone=pages:2m max_size=1023m;", "", ""},
		{"http-snippet", "proxy_cache_path /var/cache/nginx keys_zone=pages:2m max_size=1048575k;", "", ""},
		{"http-snippet", "proxy_cache_path /var/cache/nginx keys_zone=pages:2m max_size=1g;", "", `line 1: "proxy_cache_path" /var/cache/nginx: want max_size of less than 1Gi for all caches in /var/cache/nginx together (got 1g): nginx removes files only once a cache has outgrown it, and the kubelet ends a pod that exceeds the limit, which is that of the defaults of the chart (controller.cacheSizeLimit)`},
		{"http-snippet", "# proxy_cache_path /data/pages;\nmap $a $b { /data/x 1; }", "", ""},
		{"http-snippet", "proxy_cache_path /data/pages keys_zone=pages:2m max_size=1g;", "", `line 1: "proxy_cache_path" /data/pages: nginx cannot write there: want a folder directly below ` + chart},
		{"http-snippet", "proxy_cache_path /var/cache/nginx/../pages keys_zone=pages:2m max_size=1g;", "", `line 1: "proxy_cache_path" /var/cache/nginx/../pages: nginx cannot write there: want a folder directly below ` + chart},
		{"http-snippet", "proxy_cache_path /tmpx keys_zone=pages:2m max_size=1m;", "", `line 1: "proxy_cache_path" /tmpx: nginx cannot write there: want a folder directly below ` + chart},
		{"http-snippet", "proxy_cache_path /tmp/a/b keys_zone=pages:2m max_size=1m;", "", `line 1: "proxy_cache_path" /tmp/a/b: nginx does not make /tmp/a: want a folder directly below ` + chart},
		{"HTTP-Snippet", "\nuwsgi_cache_path\n /tmp/pages keys_zone=pages:2m;", "", `line 2: "uwsgi_cache_path" /tmp/pages: want max_size, such as max_size=64m: the cache would grow until the kubelet ends the pod, as /tmp may hold 256Mi by the defaults of the chart (controller.tmpSizeLimit)`},
		{"http-snippet", "scgi_cache_path /tmp/pages keys_zone=pages:2m max_size=257m;", "", `line 1: "scgi_cache_path" /tmp/pages: want max_size of less than 256Mi for all caches in /tmp together (got 257m): nginx removes files only once a cache has outgrown it, and the kubelet ends a pod that exceeds the limit, which is that of the defaults of the chart (controller.tmpSizeLimit)`},
		{"http-snippet", "proxy_cache_path /tmp/a keys_zone=a:2m max_size=200m;\nproxy_cache_path /tmp/b keys_zone=b:2m max_size=100M;", "", `line 2: "proxy_cache_path" /tmp/b: want max_size of less than 256Mi for all caches in /tmp together (got 300m): nginx removes files only once a cache has outgrown it, and the kubelet ends a pod that exceeds the limit, which is that of the defaults of the chart (controller.tmpSizeLimit)`},
		{"http-snippet", "proxy_cache_path temp/pages keys_zone=a:2m;", "", `line 1: "proxy_cache_path" temp/pages: want max_size, such as max_size=64m: the cache would grow until the kubelet ends the pod, as /var/lib/sluice may hold 1Gi by the defaults of the chart (controller.stateSizeLimit)`},
		{"http-snippet", "proxy_temp_path /data/temp;", "", `line 1: "proxy_temp_path" /data/temp: nginx cannot write there: want a folder directly below ` + chart},
		{"server-snippet", "access_log /var/log/x.log;\nerror_log /var/log/y.log warn;\nerror_log stderr;", "", `line 1: "access_log" /var/log/x.log: nginx cannot write there: want /dev/stdout, or a volume at /var/log` + volumes + "\n" + `line 2: "error_log" /var/log/y.log: nginx cannot write there: want stderr, or a volume at /var/log` + volumes},
		{"location-snippet", "access_log off;", "", ""},
		{"location-snippet", "access_log /proc/self/fd/1;", "", ""},
		{"http-snippet", "proxy_cache_path /dev/shm/a keys_zone=a:2m max_size=32m;", "", ""},
		{"location-snippet", "access_log /dev/stdout;", "", ""},
		{"location-snippet", "access_log syslog:server=192.0.2.1;", "", ""},
		{"location-snippet", "access_log /logs/$host.log;", "", `line 1: "access_log" /logs/$host.log: nginx cannot write there: want /dev/stdout, or a volume at /logs` + volumes},
		{"location-snippet", "proxy_store /tmp/store$uri;", "", ""},
		{"location-snippet", "proxy_store on;", "", ""},
		{"location-snippet", "proxy_store /data$uri;", "", `line 1: "proxy_store" /data$uri: nginx cannot write there: want a file below ` + chart},
		{"stream-snippet", "server { listen 9000; return x; access_log /var/log/x basic; }", "", `line 1: "access_log" /var/log/x: nginx cannot write there: want /dev/stdout, or a volume at /var/log` + volumes},
		{"access-log-path", "/var/log/nginx/access.log", "", "/var/log/nginx/access.log: nginx cannot write there: want /dev/stdout, or a volume at /var/log/nginx" + volumes},
		{"access-log-path", "/dev/null", "", ""},
		{"error-log-path", "/var/log/e.log", "", "/var/log/e.log: nginx cannot write there: want /dev/stderr, or a volume at /var/log" + volumes},
		// A Deployment says which folders it has.
		{"http-snippet", "proxy_cache_path /data/a keys_zone=a:2m max_size=19g;", ofSluice, ""},
		{"http-snippet", "proxy_cache_path /data/a keys_zone=a:2m max_size=21g;", ofSluice, `line 1: "proxy_cache_path" /data/a: want max_size of less than 20Gi for all caches in /data together (got 21g): nginx removes files only once a cache has outgrown it, and the kubelet ends a pod that exceeds the limit, which is that of Deployment ingress/sluice`},
		{"http-snippet", "proxy_cache_path /tmp/a/b keys_zone=a:2m max_size=2000g;", ofSluice, ""},
		{"http-snippet", "proxy_cache_path /tmp/a keys_zone=a:2m;", ofSluice, `line 1: "proxy_cache_path" /tmp/a: want max_size, such as max_size=64m: the cache would grow until its disk is full`},
		{"http-snippet", "proxy_cache_path /pages/a keys_zone=a:2m max_size=1m;", ofSluice, `line 1: "proxy_cache_path" /pages/a: nginx cannot write there: want a folder directly below /data (20Gi) or /tmp, the folders of Deployment ingress/sluice`},
		{"http-snippet", "proxy_cache_path /fixed/a keys_zone=a:2m max_size=1m;", ofSluice, `line 1: "proxy_cache_path" /fixed/a: nginx cannot write there: want a folder directly below /data (20Gi) or /tmp, the folders of Deployment ingress/sluice`},
		{"http-snippet", "proxy_cache_path /tmp/a keys_zone=a:2m max_size=300m;", strings.ReplaceAll(ofSluice, "readOnlyRootFilesystem: true", ""), ""},
		// Sluice's chart takes the place of a Deployment of ingress-nginx.
		{"http-snippet", "proxy_cache_path /tmp/a keys_zone=a:2m max_size=300m;", deployment, `line 1: "proxy_cache_path" /tmp/a: want max_size of less than 256Mi for all caches in /tmp together (got 300m): nginx removes files only once a cache has outgrown it, and the kubelet ends a pod that exceeds the limit, which is that of the defaults of the chart (controller.tmpSizeLimit)`},
		{"http-snippet", "proxy_cache_path /var/cache/nginx/a keys_zone=a:2m max_size=1000m;", strings.ReplaceAll(ofSluice, "command: [/usr/bin/sluice], args: [run, ", "args: [/nginx-ingress-controller, "), ""},
	} {
		if got := diskTexts(t, test.key, test.value, test.more); got != test.want {
			t.Errorf("%s: %s\ngot  %s\nwant %s", test.key, test.value, got, test.want)
		}
	}
}

// A snippet of an Ingress is checked as those of the settings, where it is allowed.
func TestFilesOfIngresses(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Translate.ConfigMap.Namespace, o.Translate.ConfigMap.Name = "ingress", "sluice"
	ingress := strings.ReplaceAll(missingService, "namespace: shop", `namespace: shop, annotations: {nginx.ingress.kubernetes.io/configuration-snippet: "access_log /var/log/x;"}`)
	for allowed, want := range map[string]bool{"true": true, "false": false} {
		report := Look(read(ingress+configMap("ingress", "sluice")+"data: {annotations-risk-level: Critical, allow-snippet-annotations: \""+allowed+"\"}\n"), o)
		is := func(f Finding) bool {
			return f.Reason == "Disk" && f.Field == "nginx.ingress.kubernetes.io/configuration-snippet" && f.Object == model.ObjectRef{Kind: "Ingress", Namespace: "shop", Name: "web"}
		}
		if slices.ContainsFunc(report.Findings, is) != want {
			t.Errorf("allowed %s: %v", allowed, report.Findings)
		}
	}
}
