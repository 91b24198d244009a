{{/* Whether a value was given, of (list values "a.b.c"). */}}
{{- define "sluice.given" -}}
{{- $at := first . -}}
{{- $found := true -}}
{{- range splitList "." (last .) }}
{{- if and $found (kindIs "map" $at) (hasKey $at .) }}{{ $at = get $at . }}{{ else }}{{ $found = false }}{{ end }}
{{- end -}}
{{- if and $found (not (kindIs "invalid" $at)) }}true{{ end -}}
{{- end }}

{{/* What was given and has no effect, a line for each reason; empty if there is nothing. */}}
{{- define "sluice.notes.withoutEffect" -}}
{{- $root := . -}}
{{- range $group := .Files.Get "without-effect.yaml" | fromYamlArray }}
{{- $given := list }}
{{- range $name, $_ := $group.values }}
{{- if include "sluice.given" (list $root.Values $name) }}{{ $given = append $given $name }}{{ end }}
{{- end }}
{{- with $given }}
- {{ join ", " . }}:
  {{ $group.reason }}
{{- end }}
{{- end }}
{{- $known := .Files.Get "flags.yaml" | fromYaml }}
{{- range $name, $_ := include "sluice.texts" .Values.controller.extraArgs | fromYaml }}
{{- with get $known.withoutEffect $name }}
- controller.extraArgs.{{ $name }}:
  {{ . }}
{{- end }}
{{- end }}
{{- end }}

{{/* What is made, and does less than it would in ingress-nginx. */}}
{{- define "sluice.notes.surprises" -}}
{{- $c := .Values.controller -}}
{{- $flags := include "sluice.flags" . | fromYaml -}}
{{- if $c.metrics.enabled }}
- controller.metrics: its objects are made, but Sluice has no metrics yet: /metrics answers 404.
{{- end }}
{{- if $c.addHeaders }}
- controller.addHeaders: its ConfigMap is made, but Sluice does not read the setting add-headers yet; answers have none of these headers.
{{- end }}
{{- if $c.proxySetHeaders }}
- controller.proxySetHeaders: its ConfigMap is made, but Sluice does not read the setting proxy-set-headers yet; requests to backends have none of these headers.
{{- end }}
{{- if $c.allowSnippetAnnotations }}
- controller.allowSnippetAnnotations: Sluice does not follow snippets yet; an event of each Ingress that has one says so.
{{- end }}
{{- if and $c.service.internal.enabled $c.service.enabled (not (include "sluice.internal" .)) }}
- controller.service.internal.enabled: the Service is not made, as without annotations, a loadBalancerClass or a type it would be one more load balancer for everybody.
{{- end }}
{{- with include "sluice.sysctls.left" . | fromYamlArray }}
- {{ join ", " . }}: the pod is on the network of its node, whose sysctls it cannot set; the nodes have to have them.
{{- end }}
{{- if .Values.rbac.scope }}
- rbac.scope: IngressClasses cannot be read. Ingresses are served whose class, by name, is one of {{ get $flags "ingress-class" }}.
{{- end }}
{{- if and .Values.defaultBackend.enabled (get $flags "watch-namespace") (ne (get $flags "watch-namespace" | replace "$(POD_NAMESPACE)" (include "sluice.namespace" .)) (include "sluice.namespace" .)) }}
- defaultBackend: it is in another namespace than the one that is watched, and is not read there; nginx's own 404 answers.
{{- end }}
{{- end }}
