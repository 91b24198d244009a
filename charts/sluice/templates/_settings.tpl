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
{{- if not (regexMatch $valid.pattern $text) }}{{ $_ := set $denied $key (printf "want %s (got %s)" $valid.want (ternary (printf "%s..." (trunc 200 $text | quote)) (quote $text) (gt (len $text) 200))) }}{{ end }}
{{- else if $text }}
{{- $meant := include "sluice.setting" (list $known $key) }}
{{- $off := get $known.protecting $meant }}
{{- with get $known.valid $meant }}{{ $off = .unless }}{{ end }}
{{- if and $off (not (has (lower $text) $off)) }}{{ $_ := set $denied $key (printf "no setting has this name%s" (include "sluice.didYouMean" $meant)) }}{{ end }}
{{- end }}
{{- end -}}
{{ toYaml $denied }}
{{- end }}

{{/* Fails where settings that keep requests out would not be carried out, or none of them would be read. */}}
{{- define "sluice.refused.settings" -}}
{{- $refused := include "sluice.denied" . | fromYaml -}}
{{- range .Values.controller.acceptUnsupported }}{{ $_ := unset $refused (lower .) }}{{ end -}}
{{- with $refused }}
{{- $lines := list }}
{{- range $key, $reason := . }}{{ $lines = append $lines (printf "- %s: %s" $key $reason) }}{{ end }}
{{- fail (printf "controller.config: these settings would keep requests out, and every path would answer 503:\n%s\nMend them, leave them out, or accept that by controller.acceptUnsupported: [%s]." (join "\n" $lines) (keys . | sortAlpha | join ", ")) }}
{{- end }}
{{- $own := include "sluice.namespace" . -}}
{{- $made := printf "%s/%s" $own (include "sluice.controller" .) -}}
{{- $read := get (include "sluice.flags" . | fromYaml) "configmap" -}}
{{- if and (include "sluice.evaluated" (list . .Values.controller.config) | fromYaml) (ne (replace "$(POD_NAMESPACE)" $own $read) $made) }}
{{- fail (printf "controller.config: Sluice would not read these settings: they are written into the ConfigMap %s, and --configmap names %s. Leave out controller.configMapNamespace and controller.extraArgs.configmap, or move the settings from controller.config into that ConfigMap." $made (quote $read)) }}
{{- end }}
{{- end }}

{{/* The setting that is meant by a key that is none, of (list $known key); empty if the key is a setting, or none is near. Of two that are as near, the one that keeps requests out counts. */}}
{{- define "sluice.setting" -}}
{{- $known := first . -}}
{{- $names := concat (keys $known.protecting $known.valid | sortAlpha) (keys $known.meant | sortAlpha) $known.read (keys $known.needless | sortAlpha) (keys $known.unread | sortAlpha) $known.idle -}}
{{- if or (hasKey $known.meant (last .)) (not (has (last .) $names)) -}}
{{- $near := include "sluice.nearest" (list (last .) $names) | trim -}}
{{ get $known.meant (last .) | default (get $known.meant $near) | default $near }}
{{- end }}
{{- end }}

{{/* What of controller.config Sluice does not read, but for what asks for nothing. */}}
{{- define "sluice.notes.settings" -}}
{{- $known := .Files.Get "settings.yaml" | fromYaml -}}
{{- $denied := include "sluice.denied" . | fromYaml -}}{{- $unread := list -}}{{- $needless := list -}}{{- $idle := list -}}{{- $unknown := list -}}
{{- range $name, $value := include "sluice.evaluated" (list . .Values.controller.config) | fromYaml }}
{{- $key := lower $name }}
{{- $off := get $known.protecting $key | default (get $known.unread $key) | default list }}
{{- if or (hasKey $denied $key) (has (trim $value | lower) $off) }}
{{- else if $off }}{{ $unread = append $unread $key }}
{{- else if get $known.needless $key }}{{ if trim $value }}{{ $needless = append $needless $key }}{{ end }}
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
{{- range $needless | sortAlpha }}
- controller.config.{{ . }}: without effect: {{ get $known.needless . }}.
{{- end }}
{{- with $idle | sortAlpha }}
- controller.config: without effect, as in ingress-nginx: {{ join ", " . }}.
{{- end }}
{{- range $unknown }}
- controller.config.{{ . }}: neither Sluice nor ingress-nginx has this setting{{ include "sluice.setting" (list $known (lower .)) | include "sluice.didYouMean" | default "." }}
{{- end }}
{{- end }}
