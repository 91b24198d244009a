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
{{- include "sluice.notes.caches" . }}
{{- include "sluice.notes.selectors" . }}
{{- if and $c.allowSnippetAnnotations (ne (get $c.config "annotations-risk-level" | toString | lower) "critical") }}
- controller.allowSnippetAnnotations: snippets want controller.config.annotations-risk-level: Critical, too; without it the paths of each Ingress that has one answer 503.
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
{{- if and $c.admissionWebhooks.enabled .Values.rbac.create .Values.rbac.scope (include "sluice.admission.kept" .) }}
- controller.admissionWebhooks.enabled: the webhook is not set up, as rbac.scope leaves no right to a ValidatingWebhookConfiguration, which is in no namespace. controller.admissionWebhooks.certManager.enabled needs none.
{{- end }}
{{- if .Values.rbac.scope }}
- rbac.scope: IngressClasses cannot be read. Ingresses are served whose class, by name, is one of {{ get $flags "ingress-class" }}.
{{- end }}
{{- if and .Values.defaultBackend.enabled (get $flags "watch-namespace") (ne (get $flags "watch-namespace" | replace "$(POD_NAMESPACE)" (include "sluice.namespace" .)) (include "sluice.namespace" .)) }}
- defaultBackend: it is in another namespace than the one that is watched, and is not read there; nginx's own 404 answers.
{{- end }}
{{- end }}

{{/* Which selectors of the values are for pods that these are not: those of the controller have sluice.selector and podLabels. */}}
{{- define "sluice.notes.selectors" -}}
{{- $root := . -}}
{{- $c := .Values.controller -}}
{{- $labels := include "sluice.labels" (list . "controller" $c.podLabels $c.labels) | fromYaml -}}
{{- $spec := tpl (toYaml (dict "spread" $c.topologySpreadConstraints "affinity" ($c.affinity | default dict))) . | fromYaml -}}
{{- $selectors := list -}}
{{- range $i, $one := $spec.spread }}{{ if kindIs "map" $one }}{{ $selectors = append $selectors (list (printf "topologySpreadConstraints[%d].labelSelector" $i) $one.labelSelector) }}{{ end }}{{ end -}}
{{- range $kind := list "podAffinity" "podAntiAffinity" }}
{{- $of := get $spec.affinity $kind | default dict }}
{{- range $i, $one := $of.requiredDuringSchedulingIgnoredDuringExecution }}{{ $selectors = append $selectors (list (printf "affinity.%s.requiredDuringSchedulingIgnoredDuringExecution[%d].labelSelector" $kind $i) $one.labelSelector) }}{{ end }}
{{- range $i, $one := $of.preferredDuringSchedulingIgnoredDuringExecution }}{{ $selectors = append $selectors (list (printf "affinity.%s.preferredDuringSchedulingIgnoredDuringExecution[%d].podAffinityTerm.labelSelector" $kind $i) ($one.podAffinityTerm).labelSelector) }}{{ end }}
{{- end -}}
{{- range $selectors }}
{{- $where := first . }}
{{- with last . }}
{{- $other := list }}
{{- range $key, $value := .matchLabels }}{{ if ne (get $labels $key | toString) (toString $value) }}{{ $other = append $other (printf "%s=%v" $key $value) }}{{ end }}{{ end }}
{{- range .matchExpressions }}
{{- $has := hasKey $labels .key }}
{{- $in := and $has (has (get $labels .key) (.values | default list)) }}
{{- if or (and (eq .operator "In") (not $in)) (and (eq .operator "NotIn") $in) (and (eq .operator "Exists") (not $has)) (and (eq .operator "DoesNotExist") $has) }}{{ $other = append $other (printf "%s %s %s" .key .operator (.values | default list | join ",")) }}{{ end }}
{{- end }}
{{- with $other }}
- controller.{{ $where }}: it selects no pod of this release, by {{ join ", " . }}; they have app.kubernetes.io/name={{ get $labels "app.kubernetes.io/name" }}, app.kubernetes.io/instance={{ get $labels "app.kubernetes.io/instance" }} and app.kubernetes.io/component=controller.
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* Which caches of the snippets nginx cannot make, or have no end. sluice lint also compares their sizes with the limits. */}}
{{- define "sluice.notes.caches" -}}
{{- $c := .Values.controller -}}
{{- $places := list -}}{{- $folders := list "/var/lib/sluice" "/dev/shm" -}}
{{- range include "sluice.pod.folders" . | fromYaml }}
{{- $places = append $places (printf "%s%s" .path (empty .limit | ternary "" (printf " (%s)" .limit))) }}{{ $folders = append $folders .path }}
{{- end }}
{{- range $c.extraVolumeMounts }}{{ if kindIs "map" . }}{{ if not .readOnly }}{{ $places = append $places .mountPath }}{{ $folders = append $folders (.mountPath | default "" | clean) }}{{ end }}{{ end }}{{ end -}}
{{- range $key, $value := include "sluice.evaluated" (list . $c.config) | fromYaml }}
{{- if hasSuffix "-snippet" (lower $key) }}
{{- range regexFindAll "(proxy|fastcgi|scgi|uwsgi)_cache_path\\s[^;]*" (regexReplaceAll "(?m)(^|\\s)#.*$" (toString $value) "") -1 }}
{{- $path := index (regexSplit "\\s+" . -1) 1 | trimAll "\"'" }}
{{- $writable := not (hasPrefix "/" $path) }}
{{- range $folders }}{{ if hasPrefix (printf "%s/" .) (printf "%s/" (clean $path)) }}{{ $writable = true }}{{ end }}{{ end }}
{{- if not $writable }}
- controller.config.{{ $key }}: nginx cannot make the folder {{ $path }} of a cache, so that it refuses the settings; want one directly below {{ join " or " $places }}.
{{- else if not (contains "max_size=" .) }}
- controller.config.{{ $key }}: the cache {{ $path }} has no max_size; the kubelet ends a pod whose folder exceeds its limit: {{ join ", " $places }}.
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* Which ports of the Services lead to where nginx does not listen. */}}
{{- define "sluice.notes.ports" -}}
{{- $s := .Values.controller.service -}}
{{- $ports := include "sluice.containerPorts" . | fromYaml -}}
{{- $heard := list "http" "https" ($ports.http | int | toString) ($ports.https | int | toString) -}}
{{- $snippet := get (include "sluice.evaluated" (list . .Values.controller.config) | fromYaml) "http-snippet" -}}
{{- range $at, $targets := dict "service.targetPorts" (ternary $s.targetPorts dict (and $s.enabled $s.external.enabled)) "service.internal.targetPorts" (ternary $s.internal.targetPorts dict (eq (include "sluice.internal" $) "true")) }}
{{- range $name, $target := $targets }}
{{- $text := include "sluice.text" $target }}
{{- $number := include "sluice.text" (get $ports $text | default $text) }}
{{- $listens := regexMatch (printf "\\blisten\\s+(\\S*:)?%s[\\s;]" (regexQuoteMeta $number)) ($snippet | default "") }}
{{- if not (or (kindIs "invalid" $target) (has $text $heard) $listens) }}
- controller.{{ $at }}.{{ $name }}: nothing listens on the port {{ $text }} of the pod: Sluice's nginx has http and https, and controller.config.http-snippet has no server that listens on it.
{{- end }}
{{- end }}
{{- end }}
{{- end }}
