{{- /* The configuration as an object: `config`, with the other values in front of it. */ -}}
{{- define "fairlead.config" -}}
{{- $config := dict -}}
{{- if kindIs "string" .Values.config -}}
  {{- $config = fromYaml .Values.config -}}
  {{- with $config.Error -}}
    {{- fail (printf "config is not a YAML object: %s" .) -}}
  {{- end -}}
{{- else -}}
  {{- $config = deepCopy (.Values.config | default dict) -}}
{{- end -}}
{{- if not $config -}}
  {{- $_ := set $config "mode" "nftables" -}}
{{- end -}}
{{- $_ := set $config "apiVersion" "kubeproxy.config.k8s.io/v1alpha1" -}}
{{- $_ := set $config "kind" "KubeProxyConfiguration" -}}
{{- include "fairlead.setMode" (dict "config" $config "mode" .Values.mode) -}}
{{- $connection := $config.clientConnection | default dict -}}
{{- $_ := set $connection "kubeconfig" "/var/lib/kube-proxy/kubeconfig.conf" -}}
{{- $_ := set $config "clientConnection" $connection -}}
{{- with .Values.clusterCIDR -}}
  {{- $_ := set $config "clusterCIDR" . -}}
{{- end -}}
{{- with .Values.metrics.bindAddress -}}
  {{- $_ := set $config "metricsBindAddress" . -}}
{{- end -}}
{{- /* The value that the kubelet sets for a pod of this priority; a lower one needs SYS_RESOURCE. */ -}}
{{- if kindIs "invalid" $config.oomScoreAdj -}}
  {{- $_ := set $config "oomScoreAdj" -997 -}}
{{- end -}}
{{- toYaml $config -}}
{{- end -}}

{{- /* kube-proxy's own field names the modes that kube-proxy has; Fairlead's field the others. */ -}}
{{- define "fairlead.setMode" -}}
{{- $own := .config.fairlead | default dict -}}
{{- if has .mode (list "nftables" "iptables" "ipvs") -}}
  {{- $_ := set .config "mode" .mode -}}
  {{- $_ := unset $own "mode" -}}
{{- else if .mode -}}
  {{- $_ := set $own "mode" .mode -}}
{{- end -}}
{{- if $own -}}
  {{- $_ := set .config "fairlead" $own -}}
{{- else -}}
  {{- $_ := unset .config "fairlead" -}}
{{- end -}}
{{- end -}}

{{- /* A file without a mode means nftables to Fairlead, with the settings of its block for iptables. */ -}}
{{- define "fairlead.mode" -}}
{{- $config := include "fairlead.config" . | fromYaml -}}
{{- ($config.fairlead | default dict).mode | default $config.mode | default "nftables" -}}
{{- end -}}

{{- /* "true", or empty. */ -}}
{{- define "fairlead.needsEbpf" -}}
{{- if or .Values.ebpfAccess (has (include "fairlead.mode" .) (list "socket-ebpf" "tc-ebpf")) -}}true{{- end -}}
{{- end -}}

{{- /* As kubeadm writes it. */ -}}
{{- define "fairlead.kubeconfig" -}}
{{- $host := required "apiServer.host is missing: the address at which nodes reach the API server without a proxy" .Values.apiServer.host -}}
{{- if contains ":" $host -}}
  {{- $host = printf "[%s]" (trimAll "[]" $host) -}}
{{- end -}}
{{- $account := "/var/run/secrets/kubernetes.io/serviceaccount" -}}
{{- $cluster := dict "certificate-authority" (printf "%s/ca.crt" $account) "server" (printf "https://%s:%d" $host (int .Values.apiServer.port)) -}}
{{- $context := dict "cluster" "default" "namespace" "default" "user" "default" -}}
{{- $user := dict "tokenFile" (printf "%s/token" $account) -}}
{{- dict
  "apiVersion" "v1"
  "kind" "Config"
  "clusters" (list (dict "name" "default" "cluster" $cluster))
  "contexts" (list (dict "name" "default" "context" $context))
  "current-context" "default"
  "users" (list (dict "name" "default" "user" $user))
  | toYaml -}}
{{- end -}}

{{- /* Where /livez and /readyz answer: `host` only if it is not every address of the node. */ -}}
{{- define "fairlead.probe" -}}
{{- $config := include "fairlead.config" . | fromYaml -}}
{{- $address := $config.healthzBindAddress | default "" -}}
{{- $port := 10256 -}}
{{- $host := $address -}}
{{- if regexMatch "^([^:]*|\\[.*\\]):[0-9]+$" $address -}}
  {{- $port = regexFind "[0-9]+$" $address | int -}}
  {{- $host = regexReplaceAll ":[0-9]+$" $address "" | trimAll "[]" -}}
{{- end -}}
{{- $probe := dict "port" $port -}}
{{- if not (has $host (list "" "0.0.0.0" "::")) -}}
  {{- $_ := set $probe "host" $host -}}
{{- end -}}
{{- toYaml $probe -}}
{{- end -}}

{{- define "fairlead.image" -}}
{{- if .Values.image.digest -}}
  {{- printf "%s@%s" .Values.image.repository .Values.image.digest | quote -}}
{{- else -}}
  {{- printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) | quote -}}
{{- end -}}
{{- end -}}
