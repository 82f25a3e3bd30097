{{- define "lakeward.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "lakeward.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "lakeward.labels" -}}
{{ include "lakeward.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "lakeward.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}{{ default (include "lakeward.name" .) .Values.serviceAccount.name }}{{ else }}{{ default "default" .Values.serviceAccount.name }}{{ end }}
{{- end }}

{{- define "lakeward.image" -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end }}

{{- define "lakeward.bootstrap" -}}
{{ include "lakeward.name" . }}:{{ .Values.server.port }}
{{- end }}

{{- define "lakeward.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "lakeward.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{- /* What is compiled lies in the image; the root file system is read-only, and its keeper wants to write beside it. */}}
{{- define "lakeward.kernels" -}}
- name: kernels
  image: {{ include "lakeward.image" . }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  command: [cp, -R, --preserve=timestamps, /var/cache/lakeward/., /kernels]
  securityContext:
    {{- include "lakeward.containerSecurity" . | nindent 4 }}
  volumeMounts:
    - {name: kernels, mountPath: /kernels}
{{- end }}

{{- define "lakeward.secrets" -}}
{{- range . }}
- secretRef: {name: {{ . | quote }}}
{{- end }}
{{- end }}

{{- /* A server that asks for a login answers 401 to whoever has none, which is life but no success: then by TCP. */}}
{{- define "lakeward.probe" -}}
{{- if eq .Values.server.probe "tcp" -}}
tcpSocket: {port: fluss}
{{- else -}}
httpGet: {path: /health, port: fluss, scheme: {{ upper .Values.server.probe }}}
{{- end }}
{{- end }}
