{{/* A HorizontalPodAutoscaler's spec, of (dict "values" autoscaling "name" of the Deployment "metrics" more). */}}
{{- define "sluice.autoscaler.spec" -}}
{{- $v := .values -}}
scaleTargetRef:
  apiVersion: apps/v1
  kind: Deployment
  name: {{ .name | quote }}
minReplicas: {{ int64 $v.minReplicas }}
maxReplicas: {{ int64 $v.maxReplicas }}
{{- $metrics := list }}
{{- range $resource, $target := dict "cpu" $v.targetCPUUtilizationPercentage "memory" $v.targetMemoryUtilizationPercentage }}
{{- if $target }}
{{- $metrics = append $metrics (dict "type" "Resource" "resource" (dict "name" $resource "target" (dict "type" "Utilization" "averageUtilization" (int64 $target)))) }}
{{- end }}
{{- end }}
{{- with concat $metrics .metrics }}
metrics:
{{ toYaml . }}
{{- end }}
{{- with $v.behavior }}
behavior:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* A PodDisruptionBudget's spec, of (dict "values" of the pods "selector"). */}}
{{- define "sluice.disruption.spec" -}}
{{- $v := .values -}}
{{- if not (kindIs "invalid" $v.maxUnavailable) -}}
maxUnavailable: {{ toJson $v.maxUnavailable }}
{{- else -}}
minAvailable: {{ toJson $v.minAvailable }}
{{- end }}
{{- with $v.unhealthyPodEvictionPolicy }}
unhealthyPodEvictionPolicy: {{ . | quote }}
{{- end }}
selector:
  matchLabels:
    {{- .selector | nindent 4 }}
{{- end }}
