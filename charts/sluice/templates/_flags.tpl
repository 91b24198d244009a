{{/* The flags of the container, as YAML of name: text. Those of extraArgs replace those of the chart, and those that Sluice has not are left out, so that each is there once. Rights follow from these. */}}
{{- define "sluice.flags" -}}
{{- $c := .Values.controller -}}
{{- $own := "$(POD_NAMESPACE)" -}}
{{- $flags := include "sluice.flags.grace" . | fromYaml -}}
{{- $_ := set $flags "configmap" (printf "%s/%s" ($c.configMapNamespace | default $own) (include "sluice.controller" .)) -}}
{{- $_ = set $flags "require-configmap" "true" -}}
{{- $_ = set $flags "controller-class" $c.ingressClassResource.controllerValue -}}
{{- $_ = set $flags "ingress-class" (include "sluice.flags.classes" .) -}}
{{- $_ = set $flags "election-id" ($c.electionID | default (include "sluice.named" (list . "leader"))) -}}
{{- $_ = set $flags "state-dir" "/var/lib/sluice/state" -}}
{{- $_ = set $flags "watch-secrets" "referenced" -}}
{{- with include "sluice.published" . }}{{ $_ = set $flags "publish-service" . }}{{ end -}}
{{- if .Values.defaultBackend.enabled }}{{ $_ = set $flags "default-backend-service" (printf "%s/%s" $own (include "sluice.defaultBackend" .)) }}{{ end -}}
{{- if include "sluice.streams" (list . "tcp") | fromYaml }}{{ $_ = set $flags "tcp-services-configmap" (printf "%s/%s" ($c.tcp.configMapNamespace | default $own) (include "sluice.named" (list . "tcp"))) }}{{ end -}}
{{- if include "sluice.streams" (list . "udp") | fromYaml }}{{ $_ = set $flags "udp-services-configmap" (printf "%s/%s" ($c.udp.configMapNamespace | default $own) (include "sluice.named" (list . "udp"))) }}{{ end -}}
{{- if $c.scope.enabled }}{{ $_ = set $flags "watch-namespace" ($c.scope.namespace | default $own) }}
{{- else if $c.scope.namespaceSelector }}{{ $_ = set $flags "watch-namespace-selector" $c.scope.namespaceSelector }}{{ end -}}
{{- if and $c.reportNodeInternalIp $c.hostNetwork }}{{ $_ = set $flags "report-node-internal-ip-address" "true" }}{{ end -}}
{{- if $c.watchIngressWithoutClass }}{{ $_ = set $flags "watch-ingress-without-class" "true" }}{{ end -}}
{{- if $c.enableTopologyAwareRouting }}{{ $_ = set $flags "enable-topology-aware-routing" "true" }}{{ end -}}
{{- with $c.maxmindLicenseKey }}{{ $_ = set $flags "maxmind-license-key" . }}{{ end -}}
{{- if $c.ingressClassByName }}{{ $_ = set $flags "ingress-class-by-name" "true" }}{{ end -}}
{{- if $c.metrics.enabled }}{{ $_ = set $flags "enable-metrics" "true" }}{{ end -}}
{{- if $c.disableLeaderElection }}{{ $_ = set $flags "disable-leader-election" "true" }}{{ end -}}
{{- with $c.electionTTL }}{{ $_ = set $flags "election-ttl" . }}{{ end -}}
{{- if ne $c.healthCheckPath "/healthz" }}{{ $_ = set $flags "health-check-path" $c.healthCheckPath }}{{ end -}}
{{- with $c.healthCheckHost }}{{ $_ = set $flags "healthz-host" . }}{{ end -}}
{{- $flags = merge $flags (include "sluice.admission.flags" . | fromYaml) -}}
{{- $known := .Files.Get "flags.yaml" | fromYaml -}}
{{- range $name, $text := include "sluice.texts" $c.extraArgs | fromYaml }}
{{- if and (has $name $known.switches) (eq $text "") }}{{ $text = "true" }}{{ end }}
{{- if has $name (concat $known.switches $known.valued) }}{{ $_ = set $flags $name $text }}{{ end }}
{{- end -}}
{{- if get $flags "publish-status-address" }}{{ $_ = unset $flags "publish-service" }}{{ end -}}
{{ toYaml $flags }}
{{- end }}

{{/* Fails where no pod would start: by a flag that there is not, or a value that it cannot have. What the kubelet puts in for $(NAME) is not known here. */}}
{{- define "sluice.refused.flags" -}}
{{- $known := .Files.Get "flags.yaml" | fromYaml -}}
{{- $given := .Values.controller.extraArgs | default dict -}}
{{- $names := concat $known.switches $known.valued (keys $known.withoutEffect | sortAlpha) -}}
{{- $wrong := list -}}
{{- range $name, $_ := $given }}
{{- if not (has $name $names) }}{{ $wrong = append $wrong (printf "controller.extraArgs.%s: want a flag of `sluice run`, without dashes; neither Sluice nor ingress-nginx has this one%s" $name (include "sluice.nearest" (list $name $names) | include "sluice.didYouMean")) }}{{ end }}
{{- end -}}
{{- range $name, $text := include "sluice.flags" . | fromYaml }}
{{- range $known.values }}
{{- if and (has $name .flags) (not (contains "$(" $text)) (not (regexMatch .pattern $text)) }}{{ $wrong = append $wrong (printf "%s%s: want %s (got %s)" (ternary "controller.extraArgs." "--" (hasKey $given $name)) $name .want (quote $text)) }}{{ end }}
{{- end }}
{{- end -}}
{{- with $wrong }}
{{- fail (printf "no pod would start with these flags:\n- %s" (join "\n- " .)) }}
{{- end }}
{{- end }}

{{/* The names of --ingress-class. Where IngressClasses cannot be read, names are all that Ingresses are known by, and those that others serve are not to be among them. */}}
{{- define "sluice.flags.classes" -}}
{{- $c := .Values.controller -}}
{{- if .Values.rbac.scope -}}
{{ concat (list $c.ingressClassResource.name) $c.ingressClassResource.aliases (without (list $c.ingressClass) "nginx") | uniq | join "," }}
{{- else -}}
{{ $c.ingressClass }}
{{- end }}
{{- end }}

{{/* How the pod's grace period is divided. What extraArgs says of one part counts for the rest. */}}
{{- define "sluice.flags.grace" -}}
{{- $all := .Values.controller.terminationGracePeriodSeconds | int -}}
{{- $given := include "sluice.texts" .Values.controller.extraArgs | fromYaml -}}
{{- $hearing := min 15 (div $all 4) -}}
{{- if hasKey $given "shutdown-grace-period" }}{{ $hearing = get $given "shutdown-grace-period" | int }}{{ end -}}
{{- $ending := max 0 (sub (sub $all $hearing) (min 15 (div $all 4))) -}}
{{- if hasKey $given "post-shutdown-grace-period" }}{{ $ending = get $given "post-shutdown-grace-period" | int }}{{ end -}}
shutdown-grace-period: {{ $hearing | toString | quote }}
post-shutdown-grace-period: {{ $ending | toString | quote }}
{{- end }}

{{/* The Service that Ingresses get their addresses from; empty for none. */}}
{{- define "sluice.published" -}}
{{- $s := .Values.controller.service -}}
{{- $publish := .Values.controller.publishService -}}
{{- if and $publish.enabled $s.enabled (or $s.external.enabled (include "sluice.internal" .)) -}}
{{- $name := include "sluice.controller" . -}}
{{- if not $s.external.enabled }}{{ $name = include "sluice.named" (list . .Values.controller.name "internal") }}{{ end -}}
{{ $publish.pathOverride | default (printf "$(POD_NAMESPACE)/%s" $name) }}
{{- end }}
{{- end }}

{{/* Whether there is an internal Service: without annotations, a class or another type it would be a load balancer for everybody. */}}
{{- define "sluice.internal" -}}
{{- $s := .Values.controller.service -}}
{{- if and $s.enabled $s.internal.enabled -}}
{{- if or $s.internal.annotations $s.internal.loadBalancerClass (ne ($s.internal.type | default $s.type) "LoadBalancer") }}true{{ end -}}
{{- end }}
{{- end }}

{{/* Whether a flag is on, of (list flags name default). */}}
{{- define "sluice.on" -}}
{{- if has (get (first .) (index . 1) | default (last .)) (list "true" "True" "TRUE" "t" "T" "1") }}true{{ end -}}
{{- end }}

{{/* The container's arguments, in the order of their names. */}}
{{- define "sluice.args" -}}
{{- $args := list "run" -}}
{{- range $name, $value := include "sluice.flags" . | fromYaml }}{{ $args = append $args (printf "--%s=%s" $name $value) }}{{ end -}}
{{ toYaml $args }}
{{- end }}
