{{- define "bridge.labels" -}}
app.kubernetes.io/name: bridge
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "bridge.selector" -}}
app.kubernetes.io/name: bridge
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "bridge.secret" -}}
{{ .Values.existingSecret | default (printf "%s-bridge" .Release.Name) }}
{{- end }}

{{- /* The pod of a group. Receives the root as `root` and the group as `group`. */ -}}
{{- define "bridge.pod" -}}
{{- $root := .root }}
{{- $group := .group }}
{{- $isFrontEnd := eq (toString $group.slots) "0" }}
metadata:
  labels:
    {{- include "bridge.labels" $root | nindent 4 }}
    bridge/group: {{ $group.name }}
    bridge/serves: {{ $group.serves | quote }}
spec:
  # Kubernetes would set BRIDGE_PORT to the URL of a service with the name bridge.
  enableServiceLinks: false
  {{- with $root.Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  # 5 s until load balancers know that the pod stops, the drain time, 45 s to stop the runtimes, and 5 s.
  terminationGracePeriodSeconds: {{ add $root.Values.drainSeconds 55 }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    fsGroupChangePolicy: OnRootMismatch
  {{- with $group.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $group.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $group.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: bridge
      image: "{{ $root.Values.image.repository }}:{{ $root.Values.image.tag | default $root.Chart.AppVersion }}"
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      ports:
        - name: http
          containerPort: 8787
      envFrom:
        - secretRef:
            name: {{ include "bridge.secret" $root }}
      env:
        - name: BRIDGE_NODE_NAME
          valueFrom:
            fieldRef:
              fieldPath: metadata.name
        {{- if $isFrontEnd }}
        - name: POD_IP
          valueFrom:
            fieldRef:
              fieldPath: status.podIP
        - name: BRIDGE_NODE_URL
          value: http://$(POD_IP):8787
        {{- else }}
        - name: BRIDGE_NODE_URL
          value: http://$(BRIDGE_NODE_NAME).{{ $root.Release.Name }}-bridge-nodes:8787
        {{- end }}
        - name: BRIDGE_ADAPTERS
          value: {{ $group.adapters | quote }}
        - name: BRIDGE_MAX_CONCURRENT
          value: {{ $group.slots | quote }}
        - name: BRIDGE_NODE_TAGS
          value: {{ join "," $group.tags | quote }}
        - name: BRIDGE_FILES
          value: {{ $group.files | quote }}
        {{- if eq $group.files "shared" }}
        - name: BRIDGE_FILES_DIR
          value: /files
        {{- end }}
        - name: BRIDGE_SANDBOX
          value: {{ $root.Values.sandbox | quote }}
        - name: BRIDGE_LEASE_SECONDS
          value: {{ $root.Values.leaseSeconds | quote }}
        - name: BRIDGE_DRAIN_SECONDS
          value: {{ $root.Values.drainSeconds | quote }}
        {{- range $name, $value := $root.Values.settings }}
        - name: {{ $name }}
          value: {{ $value | quote }}
        {{- end }}
      # A start can wait for the lease of an earlier pod with the same name, and migrates the database.
      startupProbe:
        httpGet: { path: /healthz, port: http }
        periodSeconds: 2
        failureThreshold: {{ add 60 $root.Values.leaseSeconds }}
      livenessProbe:
        httpGet: { path: /healthz, port: http }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: { path: /readyz, port: http }
        periodSeconds: 2
        timeoutSeconds: 5
      lifecycle:
        preStop:
          exec:
            command: ["sleep", "5"]
      {{- with $group.resources }}
      resources:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      volumeMounts:
        - name: data
          mountPath: /data
        {{- if eq $group.files "shared" }}
        - name: files
          mountPath: /files
        {{- end }}
  {{- if or $isFrontEnd (eq $group.files "shared") }}
  volumes:
    {{- if $isFrontEnd }}
    - name: data
      emptyDir: {}
    {{- end }}
    {{- if eq $group.files "shared" }}
    - name: files
      persistentVolumeClaim:
        claimName: {{ required "sharedClaim is required with files: shared" $group.sharedClaim }}
    {{- end }}
  {{- end }}
{{- end }}
