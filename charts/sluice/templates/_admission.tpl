{{/* The name of the admission webhook's Secret, Service and ValidatingWebhookConfiguration. */}}
{{- define "sluice.admission.name" -}}
{{ include "sluice.named" (list . .Values.controller.admissionWebhooks.name) }}
{{- end }}

{{/* Whether there is an admission webhook: not where flags set one up by hand, nor where Sluice would have to keep its certificate without a ClusterRole. */}}
{{- define "sluice.admission" -}}
{{- $w := .Values.controller.admissionWebhooks -}}
{{- $byHand := false -}}
{{- range $name, $_ := include "sluice.texts" .Values.controller.extraArgs | fromYaml }}
{{- if and (hasPrefix "validating-webhook" $name) (ne $name "validating-webhook-mode") }}{{ $byHand = true }}{{ end }}
{{- end -}}
{{- if and $w.enabled (not $byHand) (not (and .Values.rbac.create .Values.rbac.scope (include "sluice.admission.kept" .))) }}true{{ end -}}
{{- end }}

{{/* Whether Sluice keeps the certificate of the webhook itself; otherwise there are files of the Secret. */}}
{{- define "sluice.admission.kept" -}}
{{- $w := .Values.controller.admissionWebhooks -}}
{{- if and $w.patch.enabled (not $w.certManager.enabled) }}true{{ end -}}
{{- end }}

{{- define "sluice.admission.flags" -}}
{{- $w := .Values.controller.admissionWebhooks -}}
{{- $flags := dict -}}
{{- if include "sluice.admission" . }}
{{- $_ := set $flags "validating-webhook" (printf ":%d" (int64 $w.port)) }}
{{- $name := include "sluice.admission.name" . }}
{{- if include "sluice.admission.kept" . }}
{{- $_ = set $flags "validating-webhook-secret" (printf "$(POD_NAMESPACE)/%s" $name) }}
{{- $_ = set $flags "validating-webhook-service" (printf "$(POD_NAMESPACE)/%s" $name) }}
{{- $_ = set $flags "validating-webhook-configuration" $name }}
{{- else }}
{{- $_ = set $flags "validating-webhook-certificate" $w.certificate }}
{{- $_ = set $flags "validating-webhook-key" $w.key }}
{{- end }}
{{- end -}}
{{ toYaml $flags }}
{{- end }}

{{/* The volume with the certificate and its key as files; cert-manager gives them other keys than a Secret of ingress-nginx has. */}}
{{- define "sluice.admission.volume" -}}
{{- $byCertManager := .Values.controller.admissionWebhooks.certManager.enabled -}}
- name: webhook-cert
  secret:
    secretName: {{ include "sluice.admission.name" . | quote }}
    items:
    - key: {{ ternary "tls.crt" "cert" $byCertManager }}
      path: cert
    - key: {{ ternary "tls.key" "key" $byCertManager }}
      path: key
{{- end }}

{{/* Whether the pod has that volume. */}}
{{- define "sluice.admission.files" -}}
{{- if and (include "sluice.admission" .) (not (include "sluice.admission.kept" .)) }}true{{ end -}}
{{- end }}

{{/* How the API server reaches the webhook at a path, of (list . $path). */}}
{{- define "sluice.admission.client" -}}
{{- $root := first . -}}
{{- $w := $root.Values.controller.admissionWebhooks -}}
service:
  namespace: {{ include "sluice.namespace" $root | quote }}
  name: {{ include "sluice.admission.name" $root | quote }}
  port: {{ int64 $w.service.servicePort }}
  path: {{ last . }}{{ if eq $w.mode "warn" }}/warn{{ end }}
{{- end }}

{{/* The namespaces whose Ingresses are reviewed. */}}
{{- define "sluice.admission.namespaces" -}}
{{- $c := .Values.controller -}}
{{- $selector := $c.admissionWebhooks.namespaceSelector -}}
{{- if and (not $selector) $c.scope.enabled }}
{{- $selector = dict "matchLabels" (dict "kubernetes.io/metadata.name" ($c.scope.namespace | default (include "sluice.namespace" .))) }}
{{- end -}}
{{ toYaml $selector }}
{{- end }}
