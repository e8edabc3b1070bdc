{{- define "tributary.labels" -}}
app.kubernetes.io/name: tributary
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "tributary.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- /* What would lose data or never become ready is refused before anything is installed. */ -}}
{{- define "tributary.check" -}}
{{- if not (or .Values.filesClaim (and .Values.settings.S3_ENDPOINT .Values.settings.S3_BUCKET)) }}
{{- fail "Gateways and worker need one place for files and results. Set settings.S3_ENDPOINT and settings.S3_BUCKET, with S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY in the Secret; or set filesClaim to a PersistentVolumeClaim that all pods can mount (ReadWriteMany)." }}
{{- end }}
{{- range $name := list "DATABASE_URL" "SECRET_KEY" "S3_SECRET_ACCESS_KEY" "TOP_UP_SECRET" "ROLE" "DATA_DIR" }}
{{- if hasKey $.Values.settings $name }}
{{- fail (printf "settings.%s: secrets belong in the Secret that existingSecret names; ROLE and DATA_DIR are set by the chart." $name) }}
{{- end }}
{{- end }}
{{- if ge (int .Values.gateway.minAvailable) (int .Values.gateway.replicas) }}
{{- if gt (int .Values.gateway.replicas) 1 }}
{{- fail "gateway.minAvailable must be less than gateway.replicas: otherwise no node can be drained." }}
{{- end }}
{{- end }}
{{- end }}

{{- /* preStop, both times of the drain, and ten seconds more. */ -}}
{{- define "tributary.grace" -}}
{{- $delay := .Values.settings.DRAIN_DELAY_SECONDS | default 5 | int -}}
{{- $drain := .Values.settings.DRAIN_SECONDS | default 30 | int -}}
{{ add (int .Values.preStopSeconds) $delay $drain 10 }}
{{- end }}

{{- define "tributary.pod" -}}
automountServiceAccountToken: false
terminationGracePeriodSeconds: {{ include "tributary.grace" . }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* Pods are replaced when the Secret has changed at an upgrade. `helm template` sees none. */ -}}
{{- define "tributary.annotations" -}}
checksum/secret: {{ (lookup "v1" "Secret" .Release.Namespace .Values.existingSecret).data | toJson | sha256sum }}
{{- end }}

{{- /* Settings are part of the pod: a change replaces it, and a rollback brings them back. */ -}}
{{- define "tributary.container" -}}
image: {{ include "tributary.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
envFrom:
  - secretRef: { name: {{ .Values.existingSecret }} }
{{- end }}

{{- /* Numbers of a file of values are floating-point: as text, a million would be 1e+06. */ -}}
{{- define "tributary.settings" -}}
{{- range $name, $value := .Values.settings }}
{{- $text := kindIs "float64" $value | ternary (toJson $value) (toString $value) }}
- { name: {{ $name }}, value: {{ $text | replace "$(" "$$(" | quote }} }
{{- end }}
{{- end }}

{{- define "tributary.mounts" -}}
- { name: data, mountPath: /data }
- { name: tmp, mountPath: /tmp }
{{- if .Values.filesClaim }}
- { name: files, mountPath: /data/files }
{{- end }}
{{- end }}

{{- define "tributary.volumes" -}}
- { name: tmp, emptyDir: {} }
{{- with .Values.filesClaim }}
- { name: files, persistentVolumeClaim: { claimName: {{ . }} } }
{{- end }}
{{- end }}

{{- define "tributary.placement" -}}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* Pods stay ready for as long as new calls wait for the database, or no call would reach them. */ -}}
{{- define "tributary.probes" -}}
{{- $wait := .Values.settings.ADMIT_WAIT_SECONDS | default 0 | int -}}
ports:
  - { name: http, containerPort: 8080 }
  - { name: metrics, containerPort: 9464 }
startupProbe:
  httpGet: { path: /healthz, port: http }
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: { path: /healthz, port: http }
  periodSeconds: 10
  timeoutSeconds: 3
  failureThreshold: 6
readinessProbe:
  httpGet: { path: /readyz, port: http }
  periodSeconds: 2
  timeoutSeconds: 2
  failureThreshold: {{ add 1 (div $wait 2) }}
lifecycle:
  preStop:
    exec:
      command: [/usr/local/bin/node, -e, 'setTimeout(() => {}, {{ mul .Values.preStopSeconds 1000 }})']
{{- end }}
