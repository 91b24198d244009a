package chart

import (
	"os/exec"
	"strings"
	"testing"

	"sluice/test/chart/rendering"
)

// TestNotesTellWhatMaySurprise: what is made and does less than it says is told;
// and not where it is all right.
func TestNotesTellWhatMaySurprise(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ values, says string }{
		{"controller: {hostNetwork: true, containerSecurityContext: {runAsUser: 101}}", "controller.containerSecurityContext: on the network of the node it wants"},
		{"controller: {image: {registry: registry.example, tag: v1.15.1}}", "controller.image.tag: v1.15.1 looks like a version of ingress-nginx"},
		{"controller: {image: {registry: registry.example, digest: \"sha256:abc\"}}", "controller.image.digest: without controller.image.repository"},
		{"controller: {containerPort: {tohttps: 2443}, service: {targetPorts: {http: tohttps, https: http}}}", "controller.service.targetPorts.http: nothing listens on the port tohttps"},
		{"controller: {service: {targetPorts: {https: 8443}}}", "controller.service.targetPorts.https: nothing listens on the port 8443"},
		{"controller: {service: {internal: {enabled: true, type: NodePort, targetPorts: {http: extra}}}}", "controller.service.internal.targetPorts.http: nothing listens"},
		{"controller: {topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app.kubernetes.io/name: ingress-nginx}}}]}",
			"controller.topologySpreadConstraints[0].labelSelector: it selects no pod of this release, by app.kubernetes.io/name=ingress-nginx; they have app.kubernetes.io/name=sluice, app.kubernetes.io/instance=sluice and app.kubernetes.io/component=controller."},
		{"controller: {affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: host, labelSelector: {matchExpressions: [{key: app, operator: In, values: [a, b]}]}}}]}}}",
			"controller.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.labelSelector: it selects no pod of this release, by app In a,b;"},
		{"controller: {allowSnippetAnnotations: true}", "controller.allowSnippetAnnotations: snippets want controller.config.annotations-risk-level: Critical, too"},
		{"controller: {service: {internal: {enabled: true}}}", "controller.service.internal.enabled: the Service is not made"},
		{"controller: {hostNetwork: true, sysctls: {net.core.somaxconn: 32768}, podSecurityContext: {sysctls: [{name: net.ipv4.tcp_tw_reuse, value: \"1\"}]}}",
			"net.ipv4.tcp_tw_reuse, net.core.somaxconn: the pod is on the network of its node"},
		{"{rbac: {scope: true}, controller: {scope: {enabled: true}, ingressClassResource: {name: inner, aliases: [other]}}}", "is one of inner,other."},
		{"{rbac: {scope: true}, controller: {scope: {enabled: true}}}", "controller.admissionWebhooks.enabled: the webhook is not set up, as rbac.scope leaves no right"},
		{"controller: {config: {http-snippet: \"proxy_cache_path\\n  /data/pages levels=1:2 keys_zone=a:2m max_size=1g;\"}}",
			"controller.config.http-snippet: nginx cannot make the folder /data/pages of a cache, so that it refuses the settings; want one directly below /var/cache/nginx (1Gi) or /tmp (256Mi)."},
		{"controller: {tmpSizeLimit: \"\", config: {HTTP-Snippet: \"fastcgi_cache_path '/var/cache/nginx/../x' keys_zone=a:2m max_size=1g;\"}, extraVolumeMounts: [{name: a, mountPath: /data}]}",
			"controller.config.HTTP-Snippet: nginx cannot make the folder /var/cache/nginx/../x of a cache, so that it refuses the settings; want one directly below /var/cache/nginx (1Gi) or /tmp or /data."},
		{"controller: {config: {http-snippet: \"proxy_cache_path /tmp/pages keys_zone=a:2m;\"}}", "controller.config.http-snippet: the cache /tmp/pages has no max_size; the kubelet ends a pod whose folder exceeds its limit: /var/cache/nginx (1Gi), /tmp (256Mi)."},
		{"{defaultBackend: {enabled: true}, controller: {scope: {enabled: true, namespace: shop}}}", "defaultBackend: it is in another namespace"},
	} {
		notes := render(t, test.values).Notes
		if _, told, _ := strings.Cut(notes, "do less than you may expect:"); !strings.Contains(told, test.says) {
			t.Errorf("%s: the notes do not say %q:\n%s", test.values, test.says, notes)
		}
	}
	for _, values := range []string{
		"controller: {service: {internal: {enabled: true, annotations: {a: b}}}}",
		"controller: {hostNetwork: true}",
		"controller: {config: {http-snippet: \"proxy_cache_path /tmp/pages levels=1:2 keys_zone=a:2m max_size=100m; # proxy_cache_path /data/a;\\nproxy_cache_path /var/cache/nginx keys_zone=b:2m max_size=1g;\"}}",
		"controller: {config: {http-snippet: \"proxy_cache_path /data/pages keys_zone=a:2m max_size=100m;\"}, extraVolumes: [{name: data, emptyDir: {}}], extraVolumeMounts: [{name: data, mountPath: /data}]}",
		"controller: {containerPort: {tohttps: 2443}, config: {http-snippet: \"server { listen 0.0.0.0:2443; return 308 https://$host$request_uri; }\"}, service: {targetPorts: {http: tohttps, https: http}}}",
		"controller: {allowSnippetAnnotations: true, config: {annotations-risk-level: critical}}",
		"controller: {image: {tag: 0.1.0}}",
		"controller: {metrics: {enabled: true, serviceMonitor: {enabled: true}, prometheusRule: {enabled: true}}}",
		"controller: {podLabels: {tier: edge}, topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app.kubernetes.io/instance: \"{{ .Release.Name }}\", tier: edge}}}]}",
		"controller: {affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: host, labelSelector: {matchExpressions: [{key: app.kubernetes.io/component, operator: In, values: [controller]}, {key: app, operator: DoesNotExist}]}}]}}}",
		"controller: {hostNetwork: true, containerSecurityContext: {capabilities: {drop: [ALL], add: [NET_BIND_SERVICE]}}}",
		"controller: {hostNetwork: true, containerSecurityContext: {runAsUser: 0}}",
		"controller: {hostNetwork: true, containerSecurityContext: {runAsUser: 101}, admissionWebhooks: {port: 9443}, extraArgs: {http-port: 8080, https-port: 8443}}",
		"controller: {containerSecurityContext: {runAsUser: 101}}",
		"controller: {image: {repository: registry.example/sluice, tag: v1.0.0, digest: \"sha256:abc\"}}",
		"controller: {service: {targetPorts: {http: https, https: http}, internal: {targetPorts: {http: extra}}}}",
		"controller: {admissionWebhooks: {port: 9443}, extraArgs: {https-port: 8443}, service: {targetPorts: {http: 80, https: 8443}}}",
		"controller: {service: {enabled: false, targetPorts: {http: extra}}}",
		"controller: {sysctls: {net.core.somaxconn: 32768}}",
		"controller: {hostNetwork: true, sysctls: {kernel.shm_rmid_forced: 1}}",
		"{defaultBackend: {enabled: true}, controller: {scope: {enabled: true}}}",
	} {
		if notes := render(t, values).Notes; strings.Contains(notes, "do less than") {
			t.Errorf("%s: the notes warn:\n%s", values, notes)
		}
	}
}

// TestPeriodsFitTogether: whatever grace period a pod has, what the flags say takes
// no longer than it.
func TestPeriodsFitTogether(t *testing.T) {
	t.Parallel()
	for values, want := range map[string]string{
		"controller: {}": "--shutdown-grace-period=15 --post-shutdown-grace-period=270",
		"controller: {terminationGracePeriodSeconds: 60}":                                        "--shutdown-grace-period=15 --post-shutdown-grace-period=30",
		"controller: {terminationGracePeriodSeconds: 10}":                                        "--shutdown-grace-period=2 --post-shutdown-grace-period=6",
		"controller: {terminationGracePeriodSeconds: 0}":                                         "--shutdown-grace-period=0 --post-shutdown-grace-period=0",
		"controller: {extraArgs: {shutdown-grace-period: 60}}":                                   "--shutdown-grace-period=60 --post-shutdown-grace-period=225",
		"controller: {extraArgs: {shutdown-grace-period: \"0\", post-shutdown-grace-period: 5}}": "--shutdown-grace-period=0 --post-shutdown-grace-period=5",
	} {
		manifests := render(t, values).Manifests
		for _, argument := range strings.Fields(want) {
			if strings.Count(manifests, "- "+argument+"\n") != 1 {
				t.Errorf("%s: want %s once among the arguments", values, argument)
			}
		}
	}
}

// TestFlagsAreThereOnce: a flag of extraArgs takes the place of the chart's, with
// the rights that it needs, and its value is the text that was meant.
func TestFlagsAreThereOnce(t *testing.T) {
	t.Parallel()
	r, err := rendering.Default().Render(`controller: {extraArgs: {election-id: mine, status-update-interval: 1000000, disable-catch-all: "", update-status-on-shutdown: false, publish-status-address: 192.0.2.1}}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, argument := range []string{"--election-id=mine", "--status-update-interval=1000000", "--disable-catch-all=true", "--update-status-on-shutdown=false", "--publish-status-address=192.0.2.1"} {
		if strings.Count(r.Manifests, "- "+argument+"\n") != 1 {
			t.Errorf("want %s once among the arguments", argument)
		}
	}
	for _, gone := range []string{"--election-id=sluice-leader", "--publish-service", "resources: [pods]", "resources: [nodes]", `"sluice-leader"`} {
		if strings.Contains(r.Manifests, gone) {
			t.Errorf("%s is there all the same", gone)
		}
	}
}

// TestLintReadsTheChart: lint, which the notes name, finds nothing in what the chart
// makes by itself, and what is wrong with settings that the chart takes.
func TestLintReadsTheChart(t *testing.T) {
	t.Parallel()
	r := render(t, "")
	if !strings.Contains(r.Notes, "\n  helm template sluice CHART --namespace sluice --values FILE | sluice lint -f - --allow-empty\n") {
		t.Errorf("the notes name no way to check values:\n%s", r.Notes)
	}
	for values, says := range map[string]string{
		"": "0 Ingresses: 0 errors, 0 warnings, 0 notes",
		"controller: {config: {proxy-body-size: many}}": "error: ConfigMap sluice/sluice-controller: proxy-body-size: want",
	} {
		command := exec.Command("go", "run", "./cmd/sluice", "lint", "-f", "-", "--allow-empty")
		command.Dir = rendering.Root()
		command.Stdin = strings.NewReader(render(t, values).Manifests)
		if output, err := command.CombinedOutput(); (err == nil) != (values == "") || !strings.Contains(string(output), says) {
			t.Errorf("%q: %v, want %q:\n%s", values, err, says, output)
		}
	}
}
