{{/* Fails where values have names that neither this chart nor ingress-nginx's has. */}}
{{- define "sluice.refused.unknown" -}}
{{- with include "sluice.unknown" (list .Values (.Files.Get "names.yaml" | fromYaml) "") | trim }}
{{- $message := printf "the chart does not know all of the values:\n%s\ndocs/reference/values.md lists those that it has." . }}
{{- fail $message }}
{{- /* helm lint goes on after fail, but not where a template is missing. */}}
{{- include $message $ }}
{{- end }}
{{- end }}

{{/* A line for each unknown value, of (list values names path): names are those of names.yaml below the path; below one without names any are taken. */}}
{{- define "sluice.unknown" -}}
{{- $names := index . 1 -}}
{{- $path := last . -}}
{{- range $name, $value := first . }}
{{- $below := get $names $name }}
{{- if not (hasKey $names $name) }}
{{- $meant := include "sluice.nearest" (list $name (keys $names | sortAlpha)) }}
{{- if and (not $path) (not $meant) (hasKey $names.controller $name) }}{{ $meant = printf "controller.%s" $name }}{{ end }}
{{- with $meant }}{{ $meant = printf "%s%s" $path . }}{{ end }}
- {{ $path }}{{ $name }}: no value has this name{{ include "sluice.didYouMean" $meant }}
{{- else if and $below (kindIs "map" $value) }}
{{- include "sluice.unknown" (list $value $below (printf "%s%s." $path $name)) }}
{{- end }}
{{- end }}
{{- end }}
