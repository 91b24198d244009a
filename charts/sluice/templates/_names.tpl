{{/* The chart's name, as it is part of labels. */}}
{{- define "sluice.name" -}}
{{ .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* What the names of all objects begin with: the release's name, and the chart's where that does not say it. */}}
{{- define "sluice.fullname" -}}
{{- $chart := .Values.nameOverride | default .Chart.Name -}}
{{- $both := printf "%s-%s" .Release.Name $chart -}}
{{- if contains $chart .Release.Name }}{{ $both = .Release.Name }}{{ end -}}
{{ .Values.fullnameOverride | default $both | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* A name of an object, of (list $ "ending" ...): it keeps within the 63 characters of names, its endings whole. */}}
{{- define "sluice.named" -}}
{{- $ending := join "-" (rest .) -}}
{{- $room := sub 62 (len $ending) | int -}}
{{ include "sluice.fullname" (first .) | trunc $room | trimSuffix "-" }}-{{ $ending }}
{{- end }}

{{- define "sluice.controller" -}}
{{ include "sluice.named" (list . .Values.controller.name) }}
{{- end }}

{{- define "sluice.defaultBackend" -}}
{{ include "sluice.named" (list . .Values.defaultBackend.name) }}
{{- end }}

{{- define "sluice.namespace" -}}
{{ .Values.namespaceOverride | default .Release.Namespace | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "sluice.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{ .Values.serviceAccount.name | default (include "sluice.fullname" .) }}
{{- else -}}
{{ .Values.serviceAccount.name | default "default" }}
{{- end }}
{{- end }}

{{- define "sluice.defaultBackend.serviceAccount" -}}
{{- if .Values.defaultBackend.serviceAccount.create -}}
{{ .Values.defaultBackend.serviceAccount.name | default (include "sluice.defaultBackend" .) }}
{{- else -}}
{{ .Values.defaultBackend.serviceAccount.name | default "default" }}
{{- end }}
{{- end }}

{{/* What selectors select by, of (list $ "component"). */}}
{{- define "sluice.selector" -}}
app.kubernetes.io/name: {{ include "sluice.name" (first .) | quote }}
app.kubernetes.io/instance: {{ (first .).Release.Name | quote }}
app.kubernetes.io/component: {{ last . | quote }}
{{- end }}

{{/* The labels of an object, of (list $ "component" more...). Nobody's labels change what selectors look for. */}}
{{- define "sluice.labels" -}}
{{- $root := first . -}}
{{- $labels := include "sluice.selector" (list $root (index . 1)) | fromYaml -}}
{{- range slice . 2 }}{{ $labels = merge $labels (deepCopy (. | default dict)) }}{{ end -}}
{{- $labels = merge $labels (deepCopy $root.Values.commonLabels) (dict
  "helm.sh/chart" (printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-")
  "app.kubernetes.io/version" $root.Chart.AppVersion
  "app.kubernetes.io/part-of" (include "sluice.name" $root)
  "app.kubernetes.io/managed-by" $root.Release.Service) -}}
{{ include "sluice.texts" $labels }}
{{- end }}

{{/* metadata, of (dict "root" $ "name" "component" "labels" (list ...) "annotations" {...} "namespace"); "cluster" for objects of no namespace. */}}
{{- define "sluice.metadata" -}}
metadata:
  {{- if not .cluster }}
  namespace: {{ .namespace | default (include "sluice.namespace" .root) | quote }}
  {{- end }}
  name: {{ .name | quote }}
  labels:
    {{- include "sluice.labels" (concat (list .root .component) (.labels | default list)) | nindent 4 }}
  {{- with .annotations }}
  annotations:
    {{- include "sluice.texts" . | nindent 4 }}
  {{- end }}
{{- end }}
