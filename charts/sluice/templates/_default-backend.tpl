{{/* The spec of the default backend's pods. */}}
{{- define "sluice.defaultBackend.pod" -}}
{{- $d := .Values.defaultBackend -}}
{{- $spec := dict "serviceAccountName" (include "sluice.defaultBackend.serviceAccount" .) "automountServiceAccountToken" $d.serviceAccount.automountServiceAccountToken "terminationGracePeriodSeconds" 60 -}}
{{- range $field, $value := dict "securityContext" $d.podSecurityContext "priorityClassName" $d.priorityClassName "runtimeClassName" $d.runtimeClassName "nodeSelector" $d.nodeSelector "tolerations" $d.tolerations "affinity" $d.affinity "topologySpreadConstraints" $d.topologySpreadConstraints "volumes" $d.extraVolumes "imagePullSecrets" $.Values.imagePullSecrets }}
{{- with $value }}{{ $_ := set $spec $field . }}{{ end }}
{{- end -}}
{{ toYaml $spec }}
containers:
- name: {{ printf "%s-default-backend" (include "sluice.name" . | trunc 47 | trimSuffix "-") | quote }}
  image: {{ include "sluice.image" (list . $d.image ($d.image.registry | default .Values.global.image.registry | default "registry.k8s.io")) | quote }}
  imagePullPolicy: {{ $d.image.pullPolicy | quote }}
  {{- with include "sluice.texts" $d.extraArgs | fromYaml }}
  args:
  {{- range $name, $text := . }}
  - {{ ternary (printf "--%s" $name) (printf "--%s=%s" $name $text) (eq $text "") | quote }}
  {{- end }}
  {{- end }}
  {{- with $d.extraEnvs }}
  env:
  {{- toYaml . | nindent 2 }}
  {{- end }}
  ports:
  - name: http
    containerPort: {{ int64 $d.port }}
    protocol: TCP
  {{- range $probe := list "livenessProbe" "readinessProbe" }}
  {{- with get $d $probe }}
  {{ $probe }}:
    {{- toYaml (merge (deepCopy .) (dict "httpGet" (dict "path" "/healthz" "port" "http" "scheme" "HTTP"))) | nindent 4 }}
  {{- end }}
  {{- end }}
  securityContext:
    {{- if $d.containerSecurityContext }}
    {{- toYaml $d.containerSecurityContext | nindent 4 }}
    {{- else }}
    {{- include "sluice.securityContext" $d.image | nindent 4 }}
    capabilities:
      drop: [ALL]
    {{- end }}
  {{- with $d.resources }}
  resources:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $d.extraVolumeMounts }}
  volumeMounts:
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
