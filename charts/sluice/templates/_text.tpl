{{/* A scalar as the text that a user means: 1000000 is not 1e+06. */}}
{{- define "sluice.text" -}}
{{- if kindIs "string" . }}{{ . }}{{ else }}{{ toJson . }}{{ end -}}
{{- end }}

{{/* A map whose values are texts, as labels, annotations and settings want them. What is null was taken out by the user. */}}
{{- define "sluice.texts" -}}
{{- $texts := dict -}}
{{- range $key, $value := . }}
{{- if not (kindIs "invalid" $value) }}{{ $_ := set $texts $key (include "sluice.text" $value) }}{{ end }}
{{- end -}}
{{ toYaml $texts }}
{{- end }}

{{/* The same of (list $ map), with templates in the values evaluated. */}}
{{- define "sluice.evaluated" -}}
{{- $root := first . -}}
{{- $texts := dict -}}
{{- range $key, $value := last . }}
{{- if not (kindIs "invalid" $value) }}{{ $_ := set $texts $key (tpl (include "sluice.text" $value) $root) }}{{ end }}
{{- end -}}
{{ toYaml $texts }}
{{- end }}

{{/* The TCP or UDP services by their ports, of (list $ "tcp"). */}}
{{- define "sluice.streams" -}}
{{ include "sluice.texts" (get (first .).Values (last .)) }}
{{- end }}

{{/* An image, of (list $ image registry): its digest wins over its tag, and a whole repository over registry and name. */}}
{{- define "sluice.image" -}}
{{- $image := index . 1 -}}
{{- $repository := include "sluice.repository" (rest .) -}}
{{- if $image.digest -}}
{{ $repository }}@{{ $image.digest }}
{{- else -}}
{{ $repository }}:{{ $image.tag | default (first .).Chart.AppVersion }}
{{- end }}
{{- end }}

{{/* An image without its tag, of (list image registry). */}}
{{- define "sluice.repository" -}}
{{- $image := first . -}}
{{- $name := $image.image -}}
{{- with last . }}{{ $name = printf "%s/%s" . $name }}{{ end -}}
{{ $image.repository | default $name }}
{{- end }}

{{/* The securityContext that image.* of a container makes. */}}
{{- define "sluice.securityContext" -}}
runAsNonRoot: {{ .runAsNonRoot }}
runAsUser: {{ int64 .runAsUser }}
runAsGroup: {{ int64 .runAsGroup }}
allowPrivilegeEscalation: {{ .allowPrivilegeEscalation }}
readOnlyRootFilesystem: {{ .readOnlyRootFilesystem }}
seccompProfile:
  {{- toYaml .seccompProfile | nindent 2 }}
{{- end }}
