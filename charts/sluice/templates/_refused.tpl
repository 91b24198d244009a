{{/* Fails where rendering would make less safe, or not work at all, what the values ask for. deployment.yaml includes it, which is rendered whatever the values are. */}}
{{- define "sluice.refused" -}}
{{- include "sluice.refused.unknown" . -}}
{{- $c := .Values.controller -}}
{{- include "sluice.refused.flags" . -}}
{{- with ($c.customTemplate).configMapName }}
{{- fail "controller.customTemplate: Sluice's templates are others than ingress-nginx's nginx.tmpl, and what yours protects would be open without it. Leave this out; see --template-dir for templates of Sluice." }}
{{- end }}
{{- include "sluice.refused.settings" . }}
{{- with include "sluice.repository" (list $c.image ($c.image.registry | default .Values.global.image.registry)) }}
{{- if and (regexMatch "ingress-nginx|nginx-ingress" .) (not (contains "sluice" .)) }}
{{- fail (printf "controller.image: %s is ingress-nginx, not Sluice. Leave out image, repository, tag and digest, or give those of Sluice's image." .) }}
{{- end }}
{{- if regexMatch "^(registry[.]k8s[.]io|k8s[.]gcr[.]io)/" . }}
{{- fail (printf "controller.image: %s: Sluice's image is not at that registry, which global.image.registry and controller.image.registry are of ingress-nginx's chart. Give the registry that Sluice's image is at, or controller.image.repository." .) }}
{{- end }}
{{- end }}
{{- if not (or $c.image.repository $c.image.registry .Values.global.image.registry) }}
{{- fail "controller.image.repository: want the repository of Sluice's image, such as registry.example/sluice, or its registry in controller.image.registry (got neither); no public registry has the image." }}
{{- end }}
{{- if and (eq (int64 $c.image.runAsUser) 0) (not $c.containerSecurityContext) }}
{{- fail "controller.image.runAsUser: want the number of a user that is not root, such as 101 (got 0); the capabilities are dropped by which root could start Sluice. Give controller.containerSecurityContext if it has to be root." }}
{{- end }}
{{- $flags := include "sluice.flags" . | fromYaml }}
{{- if and .Values.rbac.create .Values.rbac.scope (not (get $flags "watch-namespace")) }}
{{- fail "rbac.scope: want controller.scope.enabled: true, too; the Ingresses of all namespaces cannot be read by the right to one." }}
{{- end }}
{{- if and (get $flags "watch-namespace") (get $flags "watch-namespace-selector") }}
{{- fail "controller.scope: want one namespace or a selector of namespaces (got both)." }}
{{- end }}
{{- if and $c.autoscaling.enabled $c.keda.enabled }}
{{- fail "controller.autoscaling.enabled and controller.keda.enabled: want one of the two (got both); they would set the replicas in turn." }}
{{- end }}
{{- range $name, $initial := dict "http-port" "80" "https-port" "443" "healthz-port" "10254" }}
{{- if and (include "sluice.admission" $) (eq (get $flags $name | default $initial) (include "sluice.text" $c.admissionWebhooks.port)) }}
{{- fail (printf "controller.admissionWebhooks.port: want another port: %v is that of --%s." $c.admissionWebhooks.port $name) }}
{{- end }}
{{- end }}
{{- include "sluice.refused.streams" . }}
{{- $all := $c.terminationGracePeriodSeconds | int }}
{{- $needed := add (get $flags "shutdown-grace-period" | int) (get $flags "post-shutdown-grace-period" | int) }}
{{- if gt ($needed | int) $all }}
{{- fail (printf "controller.terminationGracePeriodSeconds: want %d or more, the sum of extraArgs.shutdown-grace-period and post-shutdown-grace-period (got %d); open requests would be cut off." $needed $all) }}
{{- end }}
{{- end }}
