{{/* The keys of controller.config by which every path answers 503, each with the reason: what would keep requests out, and is not read yet, is misspelled or has no valid value. Sluice reads keys in any case. */}}
{{- define "sluice.denied" -}}
{{- $known := .Files.Get "settings.yaml" | fromYaml -}}
{{- $denied := dict -}}
{{- range $name, $value := include "sluice.evaluated" (list . .Values.controller.config) | fromYaml }}
{{- $key := lower $name }}
{{- $text := trim $value }}
{{- $valid := get $known.valid $key }}
{{- if hasKey $known.protecting $key }}
{{- if not (has (lower $text) (get $known.protecting $key)) }}{{ $_ := set $denied $key "Sluice does not read it yet" }}{{ end }}
{{- else if $valid }}
{{- if not (regexMatch $valid.pattern $text) }}{{ $_ := set $denied $key (printf "want %s (got %s)" $valid.want (regexReplaceAll "(?s)^(.{100}).+$" $text "${1}…" | quote)) }}{{ end }}
{{- else if $text }}
{{- $meant := include "sluice.setting" (list $known $key) }}
{{- $off := get $known.protecting $meant }}
{{- with get $known.valid $meant }}{{ $off = .unless }}{{ end }}
{{- if and $off (not (has (lower $text) $off)) }}{{ $_ := set $denied $key (printf "no setting has this name%s" (include "sluice.didYouMean" $meant)) }}{{ end }}
{{- end }}
{{- end -}}
{{ toYaml $denied }}
{{- end }}

{{/* The setting that is meant by a key that is none, of (list $known key); empty if the key is a setting, or none is near. Of two that are as near, the one that keeps requests out counts. */}}
{{- define "sluice.setting" -}}
{{- $known := first . -}}
{{- $names := concat (keys $known.protecting $known.valid | sortAlpha) $known.read $known.unread $known.idle -}}
{{- if not (has (last .) $names) -}}
{{ get $known.meant (last .) | default (include "sluice.nearest" (list (last .) $names)) }}
{{- end }}
{{- end }}

{{/* What of controller.config Sluice does not read. */}}
{{- define "sluice.notes.settings" -}}
{{- $known := .Files.Get "settings.yaml" | fromYaml -}}
{{- $denied := include "sluice.denied" . | fromYaml -}}{{- $unread := list -}}{{- $idle := list -}}{{- $unknown := list -}}
{{- range $name, $_ := include "sluice.evaluated" (list . .Values.controller.config) | fromYaml }}
{{- $key := lower $name }}
{{- if hasKey $denied $key }}
{{- else if or (hasKey $known.protecting $key) (has $key $known.unread) }}{{ $unread = append $unread $key }}
{{- else if has $key $known.idle }}{{ $idle = append $idle $key }}
{{- else if not (has $key $known.read) }}
{{- $unknown = append $unknown $name }}
{{- end }}
{{- end }}
{{- range $key, $reason := $denied }}
- controller.config.{{ $key }}: every path answers 503 ({{ $reason }}).
{{- end }}
{{- with $unread | sortAlpha }}
- controller.config: Sluice does not read {{ join ", " . }} yet.
{{- end }}
{{- with $idle | sortAlpha }}
- controller.config: without effect, as in ingress-nginx: {{ join ", " . }}.
{{- end }}
{{- range $unknown }}
- controller.config.{{ . }}: neither Sluice nor ingress-nginx has this setting{{ include "sluice.setting" (list $known (lower .)) | include "sluice.didYouMean" | default "." }}
{{- end }}
{{- end }}
