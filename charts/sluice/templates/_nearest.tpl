{{/* The name that somebody meant by another one, of (list name names), as Sluice's own hints find it; empty if none is near. Neither case nor what joins words counts. */}}
{{- define "sluice.nearest" -}}
{{- $name := include "sluice.plain" (first .) -}}
{{- $least := add1 (min 2 (div (len $name) 4)) -}}
{{- $nearest := "" -}}
{{- range last . }}
{{- $other := include "sluice.plain" . }}
{{- if and (lt (sub (len $name) (len $other)) $least) (lt (sub (len $other) (len $name)) $least) }}
{{- $apart := include "sluice.distance" (list $name $other $least) | int64 }}
{{- if lt $apart $least }}{{ $nearest = . }}{{ $least = $apart }}{{ end }}
{{- end }}
{{- end -}}
{{ $nearest }}
{{- end }}

{{- define "sluice.plain" -}}
{{ lower . | replace "-" "" | replace "_" "" | replace "." "" | replace " " "" }}
{{- end }}

{{/* The question that ends a hint, of a name; empty for none. */}}
{{- define "sluice.didYouMean" -}}
{{ with . }}; did you mean {{ quote . }}?{{ end }}
{{- end }}

{{/* How many letters of one text are to be changed, added, left out or swapped with the next to get another, of (list one other limit): row by row of the table of their beginnings, until all of a row are at the limit. */}}
{{- define "sluice.distance" -}}
{{- $one := splitList "" (first .) -}}
{{- $other := splitList "" (index . 1) -}}
{{- $limit := last . -}}
{{- $beyond := list -}}{{- $above := list -}}{{- $row := until (add1 (len $other) | int) -}}{{- $least := 0 -}}
{{- range $i, $letter := $one }}
{{- if lt $least $limit }}
{{- $beyond = $above }}{{ $above = $row }}{{ $least = add1 $i }}{{ $row = list $least }}
{{- range $j, $counterpart := $other }}
{{- $apart := min (add1 (last $row)) (add1 (index $above (add1 $j))) (add (index $above $j) (ternary 0 1 (eq $letter $counterpart))) }}
{{- if and $i $j }}
{{- if and (eq $letter (index $other (sub $j 1))) (eq $counterpart (index $one (sub $i 1))) }}{{ $apart = min $apart (add1 (index $beyond (sub $j 1))) }}{{ end }}
{{- end }}
{{- $row = append $row $apart }}{{ $least = min $least $apart }}
{{- end }}
{{- end }}
{{- end -}}
{{ last $row }}
{{- end }}
