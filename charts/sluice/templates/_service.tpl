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
{{- if and $service.enableHttps $service.enableHttp3 (include "sluice.http3" .root) }}
- name: http3
  port: {{ get $with.ports "https" | default $service.ports.https | int64 }}
  targetPort: http3
  protocol: UDP
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

{{/* "true" where the settings turn HTTP/3 on, so that nginx also listens on UDP. Sluice reads keys in any case. */}}
{{- define "sluice.http3" -}}
{{- range $name, $value := include "sluice.evaluated" (list . .Values.controller.config) | fromYaml }}
{{- if and (eq (lower $name) "use-http3") (has (trim $value | lower) (list "true" "t" "1")) }}true{{ end }}
{{- end }}
{{- end }}

{{/* Fails where a port of tcp or udp is one that a Service or the pod has for something else, so that nothing would be passed on, or has a name that is too long. */}}
{{- define "sluice.refused.streams" -}}
{{- $s := .Values.controller.service -}}
{{- $flags := include "sluice.flags" . | fromYaml -}}
{{- $services := list -}}
{{- if and $s.enabled $s.external.enabled }}{{ $services = append $services $s.ports }}{{ end -}}
{{- if include "sluice.internal" . }}{{ $services = append $services (dict "http" ($s.internal.ports.http | default $s.ports.http) "https" ($s.internal.ports.https | default $s.ports.https)) }}{{ end -}}
{{- $taken := dict -}}
{{- range $name, $initial := dict "http-port" "80" "https-port" "443" "healthz-port" "10254" }}
{{- $port := get $flags $name | default $initial }}
{{- range $protocol := list "tcp" "udp" }}{{ $_ := set $taken (printf "%s.%s" $protocol $port) (printf "%s is that of --%s" $port $name) }}{{ end }}
{{- end -}}
{{- with get $flags "validating-webhook" }}
{{- $port := splitList ":" . | last }}
{{- range $protocol := list "tcp" "udp" }}{{ $_ := set $taken (printf "%s.%s" $protocol $port) (printf "%s is that of --validating-webhook" $port) }}{{ end }}
{{- end -}}
{{- range $ports := $services }}
{{- range $name, $enabled := dict "http" $s.enableHttp "https" $s.enableHttps }}
{{- $port := get $ports $name | int64 }}
{{- if $enabled }}{{ $_ := set $taken (printf "tcp.%d" $port) (printf "the Service has %d/TCP for %s" $port $name) }}{{ end }}
{{- if and $enabled (eq $name "https") $s.enableHttp3 (include "sluice.http3" $) }}{{ $_ := set $taken (printf "udp.%d" $port) (printf "the Service has %d/UDP for HTTP/3" $port) }}{{ end }}
{{- end }}
{{- end -}}
{{- range $protocol := list "tcp" "udp" }}
{{- range $port, $_ := include "sluice.streams" (list $ $protocol) | fromYaml }}
{{- with get $taken (printf "%s.%s" $protocol $port) }}
{{- fail (printf "%s.%s: want another port: %s." $protocol $port .) }}
{{- end }}
{{- $name := include "sluice.portName" (list $ $port $protocol) }}
{{- if gt (len $name) 15 }}
{{- fail (printf "portNamePrefix: the name %s of a port: want up to 15 characters (got %d), as names of ports have." $name (len $name)) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
