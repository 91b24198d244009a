{{/*
What a Sluice needs of the API server, in pieces. clusterrole.yaml and role.yaml put
together those that its flags need; docs/rbac.md has them in tables. Each rule says what
it is for and what becomes of Sluice without it, and a test takes each away to see that.
*/}}

{{/* Of the namespaces that are served, of (dict "flags" "anySecret" "anyHeaders"). */}}
{{- define "sluice.rights.served" -}}
{{- $flags := .flags -}}
{{- $writes := include "sluice.writes" $flags }}
# The Ingresses that are served. Without list nothing is served, and Sluice does
# not become ready. Without watch they are listed every few seconds, so that
# changes come late. Without get nobody is told which other controller keeps on
# writing the status.
- apiGroups: [networking.k8s.io]
  resources: [ingresses]
  verbs: [list, watch{{ if $writes }}, get{{ end }}]
{{- if $writes }}
# Where Ingresses are reached: status.loadBalancer, by server-side apply. Without
# it no Ingress gets an address; --update-status=false does without. Where only
# update is granted instead, as by ingress-nginx's chart, that is used.
- apiGroups: [networking.k8s.io]
  resources: [ingresses/status]
  verbs: [patch]
{{- end }}
# The ports of the Services that rules name. Without list Sluice does not become
# ready. Without watch changes come late.
- apiGroups: [""]
  resources: [services]
  verbs: [list, watch]
# Where the pods of those Services are. Without list Sluice does not become ready.
# Without watch pods that end are sent requests for seconds.
- apiGroups: [discovery.k8s.io]
  resources: [endpointslices]
  verbs: [list, watch]
{{- if ne (get $flags "watch-secrets") "referenced" }}
# Certificates, keys and passwords, with --watch-secrets=metadata or all. Without
# list Sluice does not become ready; without watch a certificate that is renewed
# comes late. Kubernetes has no right to metadata alone: with these two verbs
# the content of every Secret could be read. With metadata, Sluice asks for the
# content of those alone that something refers to.
- apiGroups: [""]
  resources: [secrets]
  verbs: [list, watch]
{{- else if .anySecret }}
# Certificates, keys and passwords that something refers to, each by its name.
# Without it their hosts have no certificate, and paths that they protect answer
# 503. With get alone nobody can ask which Secrets there are; who knows a name can
# read it. rbac.secretNames narrows this to single Secrets.
- apiGroups: [""]
  resources: [secrets]
  verbs: [get]
{{- end }}
{{- if .anyHeaders }}
# ConfigMaps with headers, which Ingresses name in custom-headers and
# auth-proxy-set-headers, each by its name. Without it their paths answer 503. With
# get alone nobody can ask which ConfigMaps there are; who knows a name can read it.
# rbac.headerConfigMaps narrows this to single ConfigMaps.
- apiGroups: [""]
  resources: [configmaps]
  verbs: [get]
{{- end }}
{{ include "sluice.rights.events" . }}
{{- end }}

{{- define "sluice.rights.events" -}}
# What is wrong with an object, told where its owner looks. Without create there
# are no events; without patch those of a problem that comes again are not
# counted up.
- apiGroups: [""]
  resources: [events]
  verbs: [create, patch]
{{- end }}

{{/* Of what is in no namespace. */}}
{{- define "sluice.rights.cluster" -}}
{{- $flags := .flags }}
# Which classes are ours, and their settings. Without list classes go by the names
# of --ingress-class alone. Without watch new classes come late.
- apiGroups: [networking.k8s.io]
  resources: [ingressclasses]
  verbs: [list, watch]
{{- if not (get $flags "watch-namespace") }}
# The annotations that namespaces give to their Ingresses, and their labels. Without list
# there are no such annotations, and with a selector Sluice does not become ready;
# without watch changes come late.
- apiGroups: [""]
  resources: [namespaces]
  verbs: [list, watch]
{{- end }}
{{- $zones := include "sluice.on" (list $flags "enable-topology-aware-routing" "false") -}}
{{- if or $zones (and (include "sluice.writes" $flags) (not (get $flags "publish-service")) (not (get $flags "publish-status-address"))) }}
{{- if $zones }}
# The zone of the node that Sluice runs on, for --enable-topology-aware-routing.
# Without get the endpoints of all zones are used.
{{- end }}
# The addresses of the nodes that replicas run on, as there is no Service to take
# addresses from. Without get Ingresses are given the internal addresses, which
# pods know, and never the external ones.
- apiGroups: [""]
  resources: [nodes]
  verbs: [get]
{{- end }}
{{- with get $flags "validating-webhook-configuration" }}
# The authority of the admission webhook's certificate: caBundle of our webhook. Without
# get and patch the API server does not ask Sluice, and failurePolicy decides.
- apiGroups: [admissionregistration.k8s.io]
  resources: [validatingwebhookconfigurations]
  resourceNames: [{{ . | quote }}]
  verbs: [get, patch]
{{- end }}
{{- end }}

{{/* Of the namespace that Sluice runs in. */}}
{{- define "sluice.rights.own" -}}
{{- $flags := .flags -}}
{{- $addressed := or (get $flags "publish-service") (get $flags "publish-status-address") -}}
{{- if or (include "sluice.on" (list $flags "enable-topology-aware-routing" "false")) (and (include "sluice.writes" $flags) (or (not $addressed) (include "sluice.on" (list $flags "update-status-on-shutdown" "true")))) }}
# The replicas of this Deployment: its own pod (get), and those with the same
# labels (list). Without them the last replica does not remove the status of
# Ingresses when it stops; and without --publish-service and
# --publish-status-address no Ingress gets an address.
- apiGroups: [""]
  resources: [pods]
  verbs: [get, list]
{{- end }}
{{- if not (include "sluice.on" (list $flags "disable-leader-election" "false")) }}
# The Lease of --election-id. Without get and update no replica leads for long:
# nobody writes statuses and events.
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  resourceNames: [{{ get $flags "election-id" | quote }}]
  verbs: [get, update]
# The first replica ever makes the Lease. Kubernetes cannot restrict create by
# name; where the Lease is made by hand, this rule is not needed.
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [create]
{{- end }}
{{- end }}

{{/* Of single objects that are read by their names, of (dict "settings" [...] ...). */}}
{{- define "sluice.rights.named" -}}
{{- with .settings }}
# The settings, of --configmap. Without list Sluice is never ready, as they may say
# who is let in; without watch changes come late.
- apiGroups: [""]
  resources: [configmaps]
  resourceNames: {{ toJson . }}
  verbs: [list, watch]
{{- end }}
{{- with .streams }}
# Which ports are passed on as TCP and UDP, and where to. Without list none is;
# without watch changes come late.
- apiGroups: [""]
  resources: [configmaps]
  resourceNames: {{ toJson . }}
  verbs: [list, watch]
{{- end }}
{{- with .parameters }}
# Settings of one IngressClass, which names them in spec.parameters. Without list
# its Ingresses answer 503; without watch changes come late. A right to the
# ConfigMaps of all namespaces is not asked for: they are full of what is not for
# Sluice.
- apiGroups: [""]
  resources: [configmaps]
  resourceNames: {{ toJson . }}
  verbs: [list, watch]
{{- end }}
{{- with .secrets }}
# Secrets that something refers to, by --watch-secrets=referenced: each is read by
# its name. Without it its hosts have no certificate, and paths that it protects
# answer 503.
- apiGroups: [""]
  resources: [secrets]
  resourceNames: {{ toJson . }}
  verbs: [get]
{{- end }}
{{- with .headers }}
# ConfigMaps with headers, which Ingresses name in custom-headers and
# auth-proxy-set-headers. Without it their paths answer 503.
- apiGroups: [""]
  resources: [configmaps]
  resourceNames: {{ toJson . }}
  verbs: [get]
{{- end }}
{{- range $verbs, $names := dict "get, update" .certificate "update" .certificateRead }}
{{- with $names }}
# The certificate of the admission webhook, which Sluice makes and renews. Without
# {{ $verbs | replace ", " " and " }} there is none, or it expires: the API server does not get an answer,
# and failurePolicy decides.
- apiGroups: [""]
  resources: [secrets]
  resourceNames: {{ toJson . }}
  verbs: [{{ $verbs }}]
{{- end }}
{{- end }}
{{- with .published }}
# The addresses of --publish-service. Without get no Ingress gets an address.
- apiGroups: [""]
  resources: [services]
  resourceNames: {{ toJson . }}
  verbs: [get]
{{- end }}
{{- end }}

{{/* Whether the status of Ingresses is written, of flags. */}}
{{- define "sluice.writes" -}}
{{- if and (include "sluice.on" (list . "update-status" "true")) (not (include "sluice.on" (list . "disable-leader-election" "false"))) }}true{{ end -}}
{{- end }}

{{/* Whether any ConfigMap may have headers: where the settings allow some, and no names are given. */}}
{{- define "sluice.anyHeaders" -}}
{{- if and (get (.Values.controller.config | default dict) "global-allowed-response-headers") (not .Values.rbac.headerConfigMaps) }}true{{ end -}}
{{- end }}

{{/* The objects that are read by their names, as YAML of namespace: {what: [name]}. */}}
{{- define "sluice.reads" -}}
{{- $flags := include "sluice.flags" . | fromYaml -}}
{{- $own := include "sluice.namespace" . -}}
{{- $entries := list (list "settings" (get $flags "configmap")) -}}
{{- range list "tcp-services-configmap" "udp-services-configmap" }}{{ $entries = append $entries (list "streams" (get $flags .)) }}{{ end -}}
{{- $entries = append $entries (list "parameters" (get $flags "named-snippets")) }}
{{- $config := .Values.controller.config | default dict -}}
{{- $entries = append $entries (list "headers" (ternary (printf "%s/%s" $own (include "sluice.named" (list . "custom-add-headers"))) (get $config "add-headers") (not (empty .Values.controller.addHeaders)))) -}}
{{- $entries = append $entries (list "headers" (ternary (printf "%s/%s" $own (include "sluice.named" (list . "custom-proxy-headers"))) (get $config "proxy-set-headers") (not (empty .Values.controller.proxySetHeaders)))) }}
{{- if include "sluice.writes" $flags }}{{ $entries = append $entries (list "published" (get $flags "publish-service")) }}{{ end -}}
{{- with .Values.controller.ingressClassResource.parameters }}
{{- if eq (.kind | default "") "ConfigMap" }}{{ $entries = append $entries (list "parameters" (printf "%s/%s" (.namespace | default $own) .name)) }}{{ end }}
{{- end -}}
{{- range $namespace, $names := .Values.rbac.configMapNames }}{{ range $names }}{{ $entries = append $entries (list "parameters" (printf "%s/%s" $namespace .)) }}{{ end }}{{ end -}}
{{- range $namespace, $names := .Values.rbac.headerConfigMaps }}{{ range $names }}{{ $entries = append $entries (list "headers" (printf "%s/%s" $namespace .)) }}{{ end }}{{ end -}}
{{- if and (eq (get $flags "watch-secrets") "referenced") (or .Values.rbac.secretNames (get $flags "watch-namespace")) }}
{{- $entries = append $entries (list "secrets" (get $flags "default-ssl-certificate")) }}
{{- range $namespace, $names := .Values.rbac.secretNames }}{{ range $names }}{{ $entries = append $entries (list "secrets" (printf "%s/%s" $namespace .)) }}{{ end }}{{ end }}
{{- end -}}
{{- $webhook := get $flags "validating-webhook-secret" | default "" -}}
{{- $served := get $flags "watch-namespace" | replace "$(POD_NAMESPACE)" $own -}}
{{- $readable := and (eq (get $flags "watch-secrets") "referenced") (not .Values.rbac.secretNames) (or (not $served) (hasPrefix (printf "%s/" $served) ($webhook | replace "$(POD_NAMESPACE)" $own))) -}}
{{- $entries = append $entries (list (ternary "certificateRead" "certificate" $readable) $webhook) -}}
{{- $reads := dict -}}
{{- range $entries }}
{{- $parts := splitList "/" (last . | replace "$(POD_NAMESPACE)" $own) }}
{{- if eq (len $parts) 2 }}
{{- $there := get $reads (first $parts) | default dict }}
{{- $_ := set $there (first .) (append (get $there (first .) | default list) (last $parts) | uniq) }}
{{- $_ = set $reads (first $parts) $there }}
{{- end }}
{{- end -}}
{{ toYaml $reads }}
{{- end }}
