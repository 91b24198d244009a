{{/* The template of the controller's pods. */}}
{{- define "sluice.pod" -}}
{{- $c := .Values.controller -}}
metadata:
  labels:
    {{- include "sluice.labels" (list . "controller" $c.podLabels $c.labels) | nindent 4 }}
  {{- with $c.podAnnotations }}
  annotations:
    {{- include "sluice.texts" . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ include "sluice.serviceAccount" . | quote }}
  automountServiceAccountToken: {{ .Values.serviceAccount.automountServiceAccountToken }}
  # Time for load balancers to hear that the pod ends, and for open requests to end:
  # --shutdown-grace-period and --post-shutdown-grace-period together fit into it.
  terminationGracePeriodSeconds: {{ int64 $c.terminationGracePeriodSeconds }}
  dnsPolicy: {{ $c.dnsPolicy | quote }}
  securityContext:
    {{- include "sluice.pod.securityContext" . | nindent 4 }}
  {{- include "sluice.pod.fields" . | trim | nindent 2 }}
  {{- with $c.extraInitContainers }}
  initContainers:
  {{- tpl (toYaml .) $ | nindent 2 }}
  {{- end }}
  containers:
  - name: {{ $c.containerName | quote }}
    image: {{ include "sluice.image" (list . $c.image ($c.image.registry | default .Values.global.image.registry)) | quote }}
    imagePullPolicy: {{ $c.image.pullPolicy | quote }}
    command: [/usr/bin/sluice]
    args:
    {{- include "sluice.args" . | nindent 4 }}
    env:
    # Which pod leads, and whose nodes and replicas are meant.
    - name: POD_NAME
      valueFrom:
        fieldRef:
          fieldPath: metadata.name
    - name: POD_NAMESPACE
      valueFrom:
        fieldRef:
          fieldPath: metadata.namespace
    {{- with $c.extraEnvs }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
    {{- include "sluice.pod.ports" . | nindent 4 }}
    {{- $fields := list "livenessProbe" "readinessProbe" "startupProbe" "lifecycle" "resources" }}
    {{- if semverCompare ">=1.33.0-0" .Capabilities.KubeVersion.Version }}{{ $fields = append $fields "resizePolicy" }}{{ end }}
    {{- range $field := $fields }}
    {{- with get $c $field }}
    {{ $field }}:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    {{- end }}
    securityContext:
      {{- if $c.containerSecurityContext }}
      {{- toYaml $c.containerSecurityContext | nindent 6 }}
      {{- else }}
      {{- include "sluice.securityContext" $c.image | nindent 6 }}
      # An ordinary user may listen on the ports below 1024 by the pod's sysctl, and on
      # the node's network, where there is none, by this; it is all that is not dropped.
      capabilities:
        drop: [ALL]
        add: [NET_BIND_SERVICE]
      {{- end }}
    volumeMounts:
    - name: state
      mountPath: /var/lib/sluice
    {{- range $name, $folder := include "sluice.pod.folders" . | fromYaml }}
    - name: sluice-{{ $name }}
      mountPath: {{ $folder.path }}
    {{- end }}
    {{- if include "sluice.admission.files" . }}
    - name: webhook-cert
      mountPath: /usr/local/certificates
      readOnly: true
    {{- end }}
    {{- with $c.extraVolumeMounts }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with $c.extraContainers }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  volumes:
  # The only folder that Sluice writes to: nginx.conf, sockets and bodies of requests.
  # Keys are never in it. --state-dir is below the volume, and not the volume: it is to
  # belong to the user.
  - name: state
    emptyDir:
      {{- with $c.stateSizeLimit }}
      sizeLimit: {{ . | quote }}
      {{- else }} {}
      {{- end }}
  {{- with include "sluice.pod.folders" . | fromYaml }}
  # For what the settings let nginx write, such as caches of http-snippet.
  {{- range $name, $folder := . }}
  - name: sluice-{{ $name }}
    emptyDir:
      {{- with $folder.limit }}
      sizeLimit: {{ . | quote }}
      {{- else }} {}
      {{- end }}
  {{- end }}
  {{- end }}
  {{- if include "sluice.admission.files" . }}
  {{- include "sluice.admission.volume" . | nindent 2 }}
  {{- end }}
  {{- with $c.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{/* The folders that nginx may write to besides that of the state, by the name of their volume: each with its path and limit. A volume of the values at one of the paths takes its place. */}}
{{- define "sluice.pod.folders" -}}
{{- $c := .Values.controller -}}
{{- $folders := dict "cache" (dict "path" "/var/cache/nginx" "limit" $c.cacheSizeLimit) "tmp" (dict "path" "/tmp" "limit" $c.tmpSizeLimit) -}}
{{- range $name, $folder := deepCopy $folders }}
{{- range $c.extraVolumeMounts }}
{{- if kindIs "map" . }}{{ if hasPrefix (printf "%s/" (.mountPath | default "" | clean)) (printf "%s/" $folder.path) }}{{ $_ := unset $folders $name }}{{ end }}{{ end }}
{{- end }}
{{- end -}}
{{ toYaml $folders }}
{{- end }}

{{- define "sluice.pod.securityContext" -}}
{{- $context := merge (deepCopy .Values.controller.podSecurityContext) (dict "fsGroup" .Values.controller.image.runAsGroup) -}}
{{- $left := include "sluice.sysctls.left" . | fromYamlArray -}}
{{- $sysctls := list -}}
{{- range include "sluice.sysctls" . | fromYamlArray }}
{{- if not (or (has .name $left) (include "sluice.sysctls.ofPorts" (list $ .name))) }}{{ $sysctls = append $sysctls . }}{{ end }}
{{- end -}}
{{- $_ := unset $context "sysctls" -}}
{{- with $sysctls }}{{ $_ := set $context "sysctls" . }}{{ end -}}
{{ toYaml $context }}
{{- end }}

{{/* The sysctls that are asked for: those of podSecurityContext, and of controller.sysctls what is not among these. Names may have slashes for dots. */}}
{{- define "sluice.sysctls" -}}
{{- $sysctls := .Values.controller.podSecurityContext.sysctls | default list -}}
{{- $names := list -}}
{{- range $sysctls }}{{ $names = append $names (.name | replace "/" ".") }}{{ end -}}
{{- range $name, $value := include "sluice.texts" .Values.controller.sysctls | fromYaml }}
{{- if not (has ($name | replace "/" ".") $names) }}{{ $sysctls = append $sysctls (dict "name" $name "value" $value) }}{{ end }}
{{- end -}}
{{ toYaml $sysctls }}
{{- end }}

{{/* Whether (list $ name) is the sysctl for ports below 1024 on the node's network, where the capability does without it. */}}
{{- define "sluice.sysctls.ofPorts" -}}
{{- if and (first .).Values.controller.hostNetwork (eq (last . | replace "/" ".") "net.ipv4.ip_unprivileged_port_start") }}true{{ end -}}
{{- end }}

{{/* The names of the other sysctls that a pod on the node's network must not have. */}}
{{- define "sluice.sysctls.left" -}}
{{- $left := list -}}
{{- range include "sluice.sysctls" . | fromYamlArray }}
{{- if and $.Values.controller.hostNetwork (regexMatch "^net[./]" .name) (not (include "sluice.sysctls.ofPorts" (list $ .name))) }}{{ $left = append $left .name }}{{ end }}
{{- end -}}
{{ toYaml $left }}
{{- end }}

{{/* What of the pod's spec is there only if it is given. */}}
{{- define "sluice.pod.fields" -}}
{{- $c := .Values.controller -}}
{{- $spec := dict -}}
{{- range $field := list "dnsConfig" "hostname" "hostNetwork" "nodeSelector" "priorityClassName" "runtimeClassName" "shareProcessNamespace" "tolerations" }}
{{- with get $c $field }}{{ $_ := set $spec $field . }}{{ end }}
{{- end -}}
{{- with .Values.imagePullSecrets }}{{ $_ := set $spec "imagePullSecrets" . }}{{ end -}}
{{- range $field := list "hostAliases" "topologySpreadConstraints" }}
{{- with get $c $field }}{{ $_ := set $spec $field (tpl (toYaml .) $ | fromYamlArray) }}{{ end }}
{{- end -}}
{{- with $c.affinity }}{{ $_ := set $spec "affinity" (tpl (toYaml .) $ | fromYaml) }}{{ end -}}
{{- if $spec }}{{ toYaml $spec }}{{ end }}
{{- end }}

{{/* The ports of containerPort by name. http and https are where nginx listens, unless others than the defaults are given. */}}
{{- define "sluice.containerPorts" -}}
{{- $ports := deepCopy .Values.controller.containerPort -}}
{{- $flags := include "sluice.flags" . | fromYaml -}}
{{- range $name, $initial := dict "http" 80 "https" 443 }}
{{- $flag := get $flags (printf "%s-port" $name) }}
{{- if and $flag (eq (get $ports $name | default $initial | int) $initial) }}{{ $_ := set $ports $name ($flag | int) }}{{ end }}
{{- end -}}
{{ toYaml $ports }}
{{- end }}

{{/* The container's ports: those of containerPort, of metrics, of the admission webhook, and of tcp and udp. */}}
{{- define "sluice.pod.ports" -}}
{{- $c := .Values.controller -}}
ports:
{{- range $name, $port := include "sluice.containerPorts" . | fromYaml }}
- name: {{ $name | quote }}
  containerPort: {{ int64 $port }}
  protocol: TCP
  {{- if and $c.hostPort.enabled (hasKey $c.hostPort.ports $name) }}
  hostPort: {{ ternary $port (get $c.hostPort.ports $name) $c.hostNetwork | int64 }}
  {{- end }}
{{- end }}
{{- if include "sluice.http3" . }}
{{- $port := (include "sluice.containerPorts" . | fromYaml).https | default 443 }}
- name: http3
  containerPort: {{ int64 $port }}
  protocol: UDP
  {{- if and $c.hostPort.enabled (hasKey $c.hostPort.ports "https") }}
  hostPort: {{ ternary $port $c.hostPort.ports.https $c.hostNetwork | int64 }}
  {{- end }}
{{- end }}
{{- if $c.metrics.enabled }}
- name: {{ $c.metrics.portName | quote }}
  containerPort: {{ int64 $c.metrics.port }}
  protocol: TCP
{{- end }}
{{- if include "sluice.admission" . }}
- name: webhook
  containerPort: {{ int64 $c.admissionWebhooks.port }}
  protocol: TCP
{{- end }}
{{- range $protocol := list "tcp" "udp" }}
{{- range $port, $_ := include "sluice.streams" (list $ $protocol) | fromYaml }}
- name: {{ include "sluice.portName" (list $ $port $protocol) | quote }}
  containerPort: {{ int64 $port }}
  protocol: {{ upper $protocol }}
  {{- if $c.hostPort.enabled }}
  hostPort: {{ int64 $port }}
  {{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* The name of a port of tcp or udp, of (list $ port protocol). */}}
{{- define "sluice.portName" -}}
{{- with (first .).Values.portNamePrefix }}{{ . }}-{{ end }}{{ index . 1 }}-{{ last . }}
{{- end }}
