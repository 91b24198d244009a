{{/* Whether something was asked for by a value, of (list values "a.b.c" default): not by the default, an empty one if that is null, nor by what belongs to something that is not enabled. */}}
{{- define "sluice.given" -}}
{{- $at := first . -}}
{{- $found := true -}}
{{- range splitList "." (index . 1) }}
{{- if and $found (kindIs "map" $at) (hasKey $at .) }}{{ $at = get $at . }}{{ else }}{{ $found = false }}{{ end }}
{{- if and (kindIs "map" $at) (hasKey $at "enabled") }}{{ $found = and $found $at.enabled }}{{ end }}
{{- end -}}
{{- $initial := last . -}}
{{- if kindIs "invalid" $initial }}{{ $found = and $found $at }}{{ else }}{{ $found = and $found (ne (toJson $at) (toJson $initial)) (not (kindIs "invalid" $at)) }}{{ end -}}
{{- if $found }}true{{ end -}}
{{- end }}

{{/* What was given and has no effect, a line for each reason; empty if there is nothing. */}}
{{- define "sluice.notes.withoutEffect" -}}
{{- $root := . -}}
{{- range $group := .Files.Get "without-effect.yaml" | fromYamlArray }}
{{- $given := list }}
{{- range $name, $_ := $group.values }}
{{- if include "sluice.given" (list $root.Values $name (get ($group.defaults | default dict) $name | default nil)) }}{{ $given = append $given $name }}{{ end }}
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
{{- if and (not $c.image.repository) (regexMatch "^v[0-9]+[.][0-9]+[.][0-9]+" $c.image.tag) }}
- controller.image.tag: {{ $c.image.tag }} looks like a version of ingress-nginx; without controller.image.repository it is looked for among the images of Sluice.
{{- end }}
{{- if and (not $c.image.repository) $c.image.digest }}
- controller.image.digest: without controller.image.repository it is looked for among the images of Sluice, where one of ingress-nginx is not.
{{- end }}
{{- include "sluice.notes.settings" . }}
{{- include "sluice.notes.ports" . }}
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
{{- $own := $c.containerSecurityContext }}
{{- $least := min (get $flags "http-port" | default "80" | int) (get $flags "https-port" | default "443" | int) }}
{{- if and $c.hostNetwork $own (lt $least 1024) (ne (toString $own.runAsUser) "0") (not (has "NET_BIND_SERVICE" (($own.capabilities).add | default list))) }}
- controller.containerSecurityContext: on the network of the node it wants capabilities.add: [NET_BIND_SERVICE], by which nginx listens on ports below 1024; or let extraArgs.http-port and https-port be above 1023.
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

{{/* What of controller.config Sluice does not read. */}}
{{- define "sluice.notes.settings" -}}
{{- $known := .Files.Get "settings.yaml" | fromYaml -}}
{{- $denied := list -}}{{- $unread := list -}}{{- $idle := list -}}{{- $unknown := list -}}
{{- range $name, $text := include "sluice.evaluated" (list . .Values.controller.config) | fromYaml }}
{{- $key := lower $name }}
{{- if hasKey $known.protecting $key }}
{{- if has (trim $text) (get $known.protecting $key) }}{{ $unread = append $unread $key }}{{ else }}{{ $denied = append $denied $key }}{{ end }}
{{- else if has $key $known.unread }}{{ $unread = append $unread $key }}
{{- else if has $key $known.idle }}{{ $idle = append $idle $key }}
{{- else if not (has $key $known.read) }}{{ $unknown = append $unknown $name }}
{{- end }}
{{- end }}
{{- with $denied | sortAlpha }}
- controller.config: every path answers 503, as Sluice does not read {{ join ", " . }} yet, which would keep requests out.
{{- end }}
{{- with $unread | sortAlpha }}
- controller.config: Sluice does not read {{ join ", " . }} yet.
{{- end }}
{{- with $idle | sortAlpha }}
- controller.config: without effect, as in ingress-nginx: {{ join ", " . }}.
{{- end }}
{{- with $unknown }}
- controller.config: neither Sluice nor ingress-nginx has {{ join ", " . }}.
{{- end }}
{{- end }}

{{/* Which ports of the Services lead to where nginx does not listen. */}}
{{- define "sluice.notes.ports" -}}
{{- $s := .Values.controller.service -}}
{{- $ports := include "sluice.containerPorts" . | fromYaml -}}
{{- $heard := list "http" "https" ($ports.http | int | toString) ($ports.https | int | toString) -}}
{{- range $at, $targets := dict "service.targetPorts" (ternary $s.targetPorts dict (and $s.enabled $s.external.enabled)) "service.internal.targetPorts" (ternary $s.internal.targetPorts dict (eq (include "sluice.internal" $) "true")) }}
{{- range $name, $target := $targets }}
{{- $text := include "sluice.text" $target }}
{{- if and (not (kindIs "invalid" $target)) (not (has $text $heard)) }}
- controller.{{ $at }}.{{ $name }}: nothing listens on the port {{ $text }} of the pod, as Sluice's nginx has http and https only, and does not follow http-snippet yet.
{{- end }}
{{- end }}
{{- end }}
{{- end }}
