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
- {{ $path }}{{ $name }}: no value has this name{{ with $meant }}; did you mean {{ printf "%s%s" $path . | quote }}?{{ end }}
{{- else if and $below (kindIs "map" $value) }}
{{- include "sluice.unknown" (list $value $below (printf "%s%s." $path $name)) }}
{{- end }}
{{- end }}
{{- end }}

{{/* The name that somebody meant by another one, of (list name names), as Sluice's own hints find it; empty if none is near. Neither case nor what joins words counts. */}}
{{- define "sluice.nearest" -}}
{{- $joiners := "[-_. ]" -}}
{{- $name := regexReplaceAll $joiners (first . | lower) "" -}}
{{- $least := add1 (min 2 (div (len $name) 4)) -}}
{{- $nearest := "" -}}
{{- range last . }}
{{- $other := regexReplaceAll $joiners (lower .) "" }}
{{- if and (lt (sub (len $name) (len $other)) $least) (lt (sub (len $other) (len $name)) $least) }}
{{- $apart := include "sluice.distance" (list $name $other) | int64 }}
{{- if lt $apart $least }}{{ $nearest = . }}{{ $least = $apart }}{{ end }}
{{- end }}
{{- end -}}
{{ $nearest }}
{{- end }}

{{/* How many letters of one text are to be changed, added, left out or swapped with the next to get the other, of (list one other), row by row of the table of their beginnings. */}}
{{- define "sluice.distance" -}}
{{- $one := splitList "" (first .) -}}
{{- $other := splitList "" (last .) -}}
{{- $beyond := list -}}{{- $above := list -}}{{- $row := until (add1 (len $other) | int) -}}
{{- range $i, $letter := $one }}
{{- $beyond = $above }}{{ $above = $row }}{{ $row = list (add1 $i) }}
{{- range $j, $counterpart := $other }}
{{- $apart := min (add1 (last $row)) (add1 (index $above (add1 $j))) (add (index $above $j) (ternary 0 1 (eq $letter $counterpart))) }}
{{- if and $i $j }}
{{- if and (eq $letter (index $other (sub $j 1))) (eq $counterpart (index $one (sub $i 1))) }}{{ $apart = min $apart (add1 (index $beyond (sub $j 1))) }}{{ end }}
{{- end }}
{{- $row = append $row $apart }}
{{- end }}
{{- end -}}
{{ last $row }}
{{- end }}
