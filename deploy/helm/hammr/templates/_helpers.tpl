{{/* Name of the release's objects: the release's name, with the chart's if it does not contain it. A Service
needs a name that begins with a letter and has no dot. */}}
{{- define "hammr.fullname" -}}
{{- if not (regexMatch "^[a-z][-a-z0-9]*$" .Release.Name) -}}
{{- fail (printf "the release's name %q must be lower-case letters, digits and -, and begin with a letter: choose another one" .Release.Name) -}}
{{- end -}}
{{- if contains "hammr" .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-hammr" .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Labels by which objects of one part find their pods: (list $ "jobmaster"). */}}
{{- define "hammr.selector" -}}
app.kubernetes.io/name: hammr
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{/* All labels of an object of one part. */}}
{{- define "hammr.labels" -}}
{{ include "hammr.selector" . }}
app.kubernetes.io/version: {{ (index . 0).Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ (index . 0).Release.Service }}
helm.sh/chart: {{ (index . 0).Chart.Name }}-{{ (index . 0).Chart.Version }}
{{- end -}}

{{/* Domain of the names of the pods of one part. */}}
{{- define "hammr.domain" -}}
{{- $root := index . 0 -}}
{{ include "hammr.fullname" $root }}-{{ index . 1 }}.{{ $root.Release.Namespace }}.svc.{{ $root.Values.clusterDomain }}
{{- end -}}

{{/* The masters as a JSON list: id=host:port each, the same in all pods of all times. */}}
{{- define "hammr.masters" -}}
{{- $masters := list -}}
{{- range $i := until (int .Values.jobmaster.replicas) -}}
{{- $id := printf "%s-jobmaster-%d" (include "hammr.fullname" $) $i -}}
{{- $masters = append $masters (printf "%s=%s.%s:7070" $id $id (include "hammr.domain" (list $ "jobmaster"))) -}}
{{- end -}}
{{- $masters | toJson -}}
{{- end -}}

{{/* Settings of a jobmaster, as its file. Its id is a variable. */}}
{{- define "hammr.jobmasterSettings" -}}
{{- $settings := dict
  "masters" (include "hammr.masters" . | fromJsonArray)
  "cluster-id" (required "clusterID is missing: give a number that no other cluster has, such as $(date +%s)000" .Values.clusterID | int64 | toString)
  "staging" (required "staging is missing: give the full name of a directory that all pods see, such as hdfs://namenode:8020/hammr/staging" .Values.staging)
  "dir" "/var/lib/hammr/data" "token-file" "/etc/hammr/token/token" "http" ":7080" "nice" 0 "log-format" "json" -}}
{{- if .Values.jobmaster.join -}}
{{- $_ := set $settings "join" true -}}
{{- end -}}
{{- range $name, $value := .Values.jobmaster.settings -}}
{{- $_ := set $settings $name $value -}}
{{- end -}}
{{- $settings | toYaml -}}
{{- end -}}

{{/* CPUs of resources, a whole number of at least 1. */}}
{{- define "hammr.cpus" -}}
{{- $limits := .limits | default dict -}}
{{- $requests := .requests | default dict -}}
{{- $cpu := $limits.cpu | default $requests.cpu | default 1 | toString -}}
{{- if hasSuffix "m" $cpu -}}
{{- max 1 (divf (trimSuffix "m" $cpu | float64) 1000 | ceil | int) -}}
{{- else -}}
{{- max 1 (float64 $cpu | ceil | int) -}}
{{- end -}}
{{- end -}}

{{/* Settings of a tasknode, as its file. Its name and address are variables. */}}
{{- define "hammr.tasknodeSettings" -}}
{{- $masters := list -}}
{{- range (include "hammr.masters" . | fromJsonArray) -}}
{{- $masters = append $masters (splitList "=" . | last) -}}
{{- end -}}
{{- $cpus := include "hammr.cpus" .Values.tasknode.resources | int -}}
{{- $maps := $cpus -}}
{{- if not (kindIs "invalid" .Values.tasknode.mapSlots) -}}{{- $maps = int .Values.tasknode.mapSlots -}}{{- end -}}
{{- $reduces := max 1 (div $cpus 2) -}}
{{- if not (kindIs "invalid" .Values.tasknode.reduceSlots) -}}{{- $reduces = int .Values.tasknode.reduceSlots -}}{{- end -}}
{{- $settings := dict
  "masters" $masters "cluster-id" (.Values.clusterID | int64 | toString) "map-slots" $maps "reduce-slots" $reduces
  "dir" "/var/lib/hammr/data" "token-file" "/etc/hammr/token/token" "http" ":7081" "cgroup" "none" "log-format" "json" -}}
{{- range $name, $value := .Values.tasknode.settings -}}
{{- $_ := set $settings $name $value -}}
{{- end -}}
{{- $settings | toYaml -}}
{{- end -}}

{{/* Security of every pod: Pod Security Standard "restricted". */}}
{{- define "hammr.podSecurity" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- end -}}

{{/* Security of every container. */}}
{{- define "hammr.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end -}}

{{/* Probes of a daemon, by the name of its port. A master may read a large log before it serves. */}}
{{- define "hammr.probes" -}}
startupProbe:
  httpGet: {path: /health, port: http}
  periodSeconds: 2
  failureThreshold: 150
livenessProbe:
  httpGet: {path: /health, port: http}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 3
readinessProbe:
  httpGet: {path: /ready, port: http}
  periodSeconds: 3
  timeoutSeconds: 5
  failureThreshold: 2
{{- end -}}

{{/* Variables of every container. */}}
{{- define "hammr.env" -}}
{{- if .Values.hadoop.user }}
- name: HADOOP_USER_NAME
  value: {{ .Values.hadoop.user | quote }}
{{- end }}
{{- if .Values.hadoop.configMap }}
- name: HADOOP_CONF_DIR
  value: /etc/hadoop
{{- end }}
{{- end -}}

{{/* Mounts of every container, beside its data. HDFS output passes through /tmp. */}}
{{- define "hammr.mounts" -}}
- {name: config, mountPath: /etc/hammr/config, readOnly: true}
- {name: token, mountPath: /etc/hammr/token, readOnly: true}
- {name: tmp, mountPath: /tmp}
{{- if .Values.hadoop.configMap }}
- {name: hadoop, mountPath: /etc/hadoop, readOnly: true}
{{- end }}
{{- if .Values.shared.claim }}
- {name: shared, mountPath: {{ .Values.shared.mountPath | quote }}}
{{- end }}
{{- end -}}

{{/* Volumes of every pod of one part, beside its data. */}}
{{- define "hammr.volumes" -}}
{{- $root := index . 0 -}}
- name: config
  configMap:
    name: {{ include "hammr.fullname" $root }}-{{ index . 1 }}
- name: token
  secret:
    secretName: {{ $root.Values.token.secret | quote }}
    items: [{key: token, path: token}]
    defaultMode: 0400
- name: tmp
  emptyDir: {}
{{- if $root.Values.hadoop.configMap }}
- name: hadoop
  configMap:
    name: {{ $root.Values.hadoop.configMap | quote }}
{{- end }}
{{- if $root.Values.shared.claim }}
- name: shared
  persistentVolumeClaim:
    claimName: {{ $root.Values.shared.claim | quote }}
{{- end }}
{{- end -}}

{{/* Where pods of one part run: (list $ values-of-the-part). */}}
{{- define "hammr.placement" -}}
{{- $values := index . 1 -}}
{{- with (index . 0).Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with $values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* A volume of each pod, as a volumeClaimTemplate. */}}
{{- define "hammr.claim" -}}
metadata:
  name: data
spec:
  accessModes: [ReadWriteOnce]
  {{- with .className }}
  storageClassName: {{ . | quote }}
  {{- end }}
  resources:
    requests:
      storage: {{ .size | quote }}
{{- end -}}
