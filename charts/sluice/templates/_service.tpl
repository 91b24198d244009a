{{/* The spec of one of the controller's Services, of (dict "root" $ "values" of it "type" "ports" "targetPorts"). */}}
{{- define "sluice.service.spec" -}}
{{- $v := .values -}}
{{- $spec := dict "type" .type -}}
{{- range $field := list "clusterIP" "clusterIPs" "externalIPs" "loadBalancerIP" "loadBalancerSourceRanges" "loadBalancerClass" "externalTrafficPolicy" "sessionAffinity" "trafficDistribution" "ipFamilyPolicy" "ipFamilies" }}
{{- with get $v $field }}{{ $_ := set $spec $field . }}{{ end }}
{{- end -}}
{{- if semverCompare "<1.31.0-0" .root.Capabilities.KubeVersion.Version }}{{ $_ := unset $spec "trafficDistribution" }}{{ end -}}
{{- with $v.healthCheckNodePort }}{{ $_ := set $spec "healthCheckNodePort" (int64 .) }}{{ end -}}
{{- if kindIs "bool" $v.allocateLoadBalancerNodePorts }}{{ $_ := set $spec "allocateLoadBalancerNodePorts" $v.allocateLoadBalancerNodePorts }}{{ end -}}
{{ toYaml $spec }}
selector:
  {{- include "sluice.selector" (list .root "controller") | nindent 2 }}
ports:
{{- include "sluice.service.ports" . }}
{{- end }}

{{- define "sluice.service.ports" -}}
{{- $with := . -}}
{{- $service := .root.Values.controller.service -}}
{{- $nodes := has .type (list "NodePort" "LoadBalancer") -}}
{{- range $name, $enabled := dict "http" $service.enableHttp "https" $service.enableHttps }}
{{- if $enabled }}
- name: {{ $name }}
  port: {{ get $with.ports $name | default (get $service.ports $name) | int64 }}
  targetPort: {{ get $with.targetPorts $name | default (get $service.targetPorts $name) | toJson }}
  protocol: TCP
  {{- if $with.values.appProtocol }}
  appProtocol: {{ $name }}
  {{- end }}
  {{- with get $with.values.nodePorts $name }}
  {{- if $nodes }}
  nodePort: {{ int64 . }}
  {{- end }}
  {{- end }}
{{- end }}
{{- end }}
{{- range $protocol := list "tcp" "udp" }}
{{- range $port, $_ := include "sluice.streams" (list $with.root $protocol) | fromYaml }}
- name: {{ include "sluice.portName" (list $with.root $port $protocol) | quote }}
  port: {{ int64 $port }}
  targetPort: {{ include "sluice.portName" (list $with.root $port $protocol) | quote }}
  protocol: {{ upper $protocol }}
  {{- with get (get $with.values.nodePorts $protocol | default dict) $port }}
  {{- if $nodes }}
  nodePort: {{ int64 . }}
  {{- end }}
  {{- end }}
{{- end }}
{{- end }}
{{- end }}
