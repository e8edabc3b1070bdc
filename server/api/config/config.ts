/**
 * The configuration: read once from the environment, validated and then immutable. variables.ts
 * defines each variable and its default; the rest of the gateway sees only this object.
 */
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import type { AllowedOrigins } from '../../base/http/cors.ts'
import type { MemoryLimits } from '../../base/lib/memory/memory.ts'
import { OperatorError } from '../../base/lib/operator-error.ts'
import { maskSecret } from '../../base/lib/secrets/secrets.ts'
import { describeProblem } from '../../base/lib/text/describe-problem.ts'
import { judgeIssuer } from '../sign-in/issuer.ts'
import { BODIES_MIN, defaultMemoryBytes } from './memory-default.ts'
import { SECRET_VARIABLES, VARIABLES } from './variables.ts'

interface Fixed {
  /** All processes on one database judge each other by these values. */
  readonly leases: {
    readonly renewMs: number
    readonly leaseSeconds: number
    readonly isolatedMs: number
  }
  /** Tests that start hundreds of gateways switch it off. */
  readonly warmsUp: boolean
}

/** Not configurable. */
const FIXED: Fixed = {
  leases: { renewMs: 5_000, leaseSeconds: 20, isolatedMs: 5 * 60_000 },
  warmsUp: true,
}

const environmentSchema = z.object(VARIABLES)
type Values = z.output<typeof environmentSchema>
type Environment = Readonly<Record<string, string | undefined>>

export class ConfigError extends OperatorError {}

export type Config = ReturnType<typeof assemble>

/**
 * Reads the environment; an empty variable counts as absent. `flags` are command-line options and
 * take precedence. Throws ConfigError with one line per invalid variable. Only what opens no secret
 * works without SECRET_KEY on a database of one's own (`needsKey`).
 */
export function loadConfig(
  environment: Environment = process.env,
  flags: Environment = {},
  needsKey = true,
): Config {
  const merged = { ...environment, ...dropAbsent(flags) }
  const parsed = environmentSchema.safeParse(dropAbsent(merged), { error: describeProblem })
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `${String(issue.path[0])}: ${issue.message}`)
    throw new ConfigError([...new Set(lines)].join('\n'))
  }
  const { data } = parsed
  if (needsKey && data.DATABASE_URL !== undefined && !data.SECRET_KEY) {
    throw new ConfigError(
      'SECRET_KEY: is required with DATABASE_URL, because every gateway needs the same one; ' +
        'make one with: openssl rand -base64 32',
    )
  }
  if (data.S3_ENDPOINT !== undefined) requireStoreParts(data)
  refuseContradictions(data)
  return deepFreeze(assemble(data, namesExporter(data, merged)))
}

/**
 * Returns one line per variable for the log at startup: `PORT=8080 (default)`. Secrets are masked;
 * `flags` take precedence.
 */
export function describeConfig(
  environment: Environment = process.env,
  flags: Environment = {},
): string[] {
  return showConfig({ ...environment, ...dropAbsent(flags) }).map(
    ({ name, value, set }) => `${name}=${value}${set ? '' : ' (default)'}`,
  )
}

/** Returns the name, default and description of each variable, for the command-line reference. */
export function listVariables(): { name: string; default: string; description: string }[] {
  const defaults: Readonly<Record<string, unknown>> = environmentSchema.parse({})
  return Object.entries(VARIABLES).map(([name, schema]) => ({
    name,
    default: defaults[name] === undefined ? '' : String(defaults[name]),
    description: schema.description ?? '',
  }))
}

export interface VariableInEffect {
  readonly name: string
  /** The value in effect, masked where it is a secret. */
  readonly value: string
  /** True if the environment has it, whatever its value. */
  readonly set: boolean
  readonly default: string
  readonly description: string
}

/** Returns the current value, default and description of each variable. */
export function showConfig(environment: Environment = process.env): VariableInEffect[] {
  const variables = dropAbsent(environment)
  return listVariables().map((variable) => {
    const text = variables[variable.name]
    const value = text === undefined ? variable.default : show(variable.name, text)
    return { ...variable, value, set: text !== undefined }
  })
}

/** Timeouts and limits of the data path. */
function pipelineLimits(values: Values) {
  return {
    connectTimeoutMs: values.UPSTREAM_CONNECT_TIMEOUT_MS,
    firstByteTimeoutMs: values.UPSTREAM_FIRST_BYTE_TIMEOUT_MS,
    idleTimeoutMs: values.UPSTREAM_IDLE_TIMEOUT_MS,
    wholeTimeoutMs: values.UPSTREAM_TOTAL_TIMEOUT_MS,
    streamTimeoutMs: values.UPSTREAM_STREAM_TIMEOUT_MS,
    clientStallMs: values.CLIENT_STALL_MS,
    drainMs: values.UPSTREAM_DRAIN_MS,
    drainBytes: values.UPSTREAM_DRAIN_BYTES,
    drainSlots: values.UPSTREAM_DRAIN_SLOTS,
    answerBytesMax: values.UPSTREAM_ANSWER_BYTES_MAX,
    socketsMax: values.UPSTREAM_CONNECTIONS_MAX,
    refusalsPerMinute: values.REFUSALS_PER_MINUTE,
  }
}

function workersOf(values: Values): number {
  return values.WORKERS === 'auto' ? availableParallelism() : values.WORKERS
}

function taskTimes(values: Values) {
  return {
    pollMsMin: values.TASK_POLL_INTERVAL_MIN_MS,
    pollMsMax: values.TASK_POLL_INTERVAL_MAX_MS,
    leaseMs: values.TASK_LEASE_MS,
    submitTimeoutMs: values.TASK_SUBMIT_TIMEOUT_MS,
    unknownMs: values.TASK_UNKNOWN_MS,
    passMs: Math.ceil(values.TASK_UNKNOWN_MS / 10),
    goneMs: values.TASK_UNKNOWN_MS,
    ageMsMax: values.TASK_AGE_MS_MAX,
  }
}

function memoryLimits(values: Values): MemoryLimits {
  const { MEMORY_BYTES_MAX: bytesMax, CHAT_BODY_BYTES_MAX: bodyBytesMax } = values
  return {
    bytesMax: bytesMax ?? defaultMemoryBytes(workersOf(values), bodyBytesMax),
    diskBytesMax: values.SPOOL_BYTES_MAX,
    socketsMax: values.SOCKETS_MAX,
    folder: join(resolve(values.DATA_DIR), 'spool'),
  }
}

function assembleMetrics(values: Values) {
  const { METRICS_HOST: host, METRICS_PORT: port, METRICS_PLACES_MAX: placesMax } = values
  return { host, port, placesMax }
}

/**
 * Variables that cause OpenTelemetry's SDK to be loaded; the SDK reads these and its other
 * variables itself.
 */
const EXPORTER =
  /^OTEL_(?:EXPORTER_OTLP_(?:TRACES|METRICS|LOGS)_ENDPOINT|(?:TRACES|METRICS|LOGS)_EXPORTER)$/

function namesExporter(values: Values, environment: Environment): boolean {
  if (/^true$/i.test(environment.OTEL_SDK_DISABLED ?? '')) return false
  if (values.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined) return true
  return Object.entries(environment).some(
    ([name, value]) => EXPORTER.test(name) && value && value !== 'none',
  )
}

function assemble(values: Values, loadsTelemetry: boolean) {
  return {
    role: values.ROLE,
    workers: workersOf(values),
    host: values.HOST,
    port: values.PORT,
    publicUrl: values.PUBLIC_URL ?? localUrl(values.HOST, values.PORT),
    ffmpeg: values.FFMPEG,
    isPublicUrlSet: values.PUBLIC_URL !== undefined,
    /** Undefined if no mail is sent. */
    mail:
      values.SMTP_URL && values.MAIL_FROM
        ? { server: values.SMTP_URL, from: values.MAIL_FROM }
        : undefined,
    ...assembleSignIn(values),
    trustedProxies: values.TRUSTED_PROXIES,
    operatorSecondFactor: values.OPERATOR_SECOND_FACTOR,
    databaseUrl: values.DATABASE_URL,
    /** An absolute path. */
    dataDir: resolve(values.DATA_DIR),
    /**
     * The first key seals, all open; absent with the embedded database, which keeps it in a file.
     */
    secretKeys: values.SECRET_KEY,
    site: values.SITE,
    callsMax: values.CALLS_MAX,
    topUpSecret: values.TOP_UP_SECRET,
    objectStore: objectStore(values),
    allowPrivateTargets: values.ALLOW_PRIVATE_TARGETS,
    targetPorts: values.TARGET_PORTS,
    metrics: assembleMetrics(values),
    logsRequests: values.ACCESS_LOG,
    log: { level: values.LOG_LEVEL, format: values.LOG_FORMAT },
    loadsTelemetry,
    sampling: { name: values.OTEL_TRACES_SAMPLER, ratio: values.OTEL_TRACES_SAMPLER_ARG },
    drainMs: values.DRAIN_SECONDS * 1000,
    // With an embedded database, no other gateway could take the traffic.
    drainDelayMs:
      (values.DRAIN_DELAY_SECONDS ?? (values.DATABASE_URL === undefined ? 0 : 5)) * 1000,
    server: {
      headersTimeoutMs: values.HEADERS_TIMEOUT_MS,
      requestTimeoutMs: values.REQUEST_TIMEOUT_MS,
      keepAliveTimeoutMs: values.KEEP_ALIVE_TIMEOUT_MS,
      headerBytesMax: values.HEADER_BYTES_MAX,
      headersMax: values.HEADERS_MAX,
      connectionsMax: values.CONNECTIONS_MAX,
      clientStallMs: values.CLIENT_STALL_MS,
    },
    memory: memoryLimits(values),
    corsOrigins: allowedOrigins(values.CORS_ORIGINS),
    compressesResponses: values.COMPRESS_RESPONSES,
    bodies: { jsonBytesMax: values.BODY_BYTES_MAX, chatBytesMax: values.CHAT_BODY_BYTES_MAX },
    pipeline: pipelineLimits(values),
    taskCallsPerChannel: values.TASK_CALLS_PER_CHANNEL,
    tasks: taskTimes(values),
    upstream: {
      connectTimeoutMs: values.UPSTREAM_CONNECT_TIMEOUT_MS,
      connectionsMax: values.UPSTREAM_CONNECTIONS_MAX,
    },
    storage: { accountBytesMax: values.STORED_BYTES_MAX, uploadsMax: values.UPLOADS_MAX },
    housekeeping: {
      everyMs: values.HOUSEKEEPING_MS,
      deliveryDays: values.DELIVERY_DAYS,
      timelineDays: values.TIMELINE_DAYS,
    },
    admitWaitMs: values.ADMIT_WAIT_SECONDS * 1_000,
    ledger: { holdQueueMax: values.HOLD_QUEUE_MAX, settleQueueMax: values.SETTLE_QUEUE_MAX },
    ...FIXED,
  } as const
}

function allowedOrigins(origins: Values['CORS_ORIGINS']): AllowedOrigins | undefined {
  if (origins === undefined) return undefined
  return origins.includes('*') ? '*' : new Set(origins)
}

function objectStore(values: Values) {
  const { S3_ENDPOINT: endpoint, S3_BUCKET: bucket, S3_REGION: region } = values
  const { S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = values
  if (!endpoint || !bucket) return undefined
  const keys = accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : undefined
  return { endpoint, bucket, region, keys }
}

/** Both keys, or neither: then the credentials of the machine are used. */
function requireStoreParts(values: Values): void {
  const hasKey = values.S3_ACCESS_KEY_ID ?? values.S3_SECRET_ACCESS_KEY
  const keys = ['S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'] as const
  const needed = ['S3_BUCKET', ...(hasKey === undefined ? [] : keys)] as const
  const missing = needed.filter((name) => values[name] === undefined)
  if (missing.length === 0) return
  throw new ConfigError(missing.map((name) => `${name}: is required with S3_ENDPOINT`).join('\n'))
}

function refuseContradictions(values: Values): void {
  const { TASK_POLL_INTERVAL_MIN_MS: least, TASK_POLL_INTERVAL_MAX_MS: most } = values
  const lines = [
    values.MEMORY_BYTES_MAX !== undefined &&
      values.MEMORY_BYTES_MAX < BODIES_MIN * values.CHAT_BODY_BYTES_MAX &&
      `MEMORY_BYTES_MAX: must be at least ${BODIES_MIN} times CHAT_BODY_BYTES_MAX`,
    values.S3_BUCKET !== undefined &&
      values.S3_ENDPOINT === undefined &&
      'S3_ENDPOINT: is required with S3_BUCKET, for example https://s3.eu-west-1.amazonaws.com',
    (values.SMTP_URL === undefined) !== (values.MAIL_FROM === undefined) &&
      (values.SMTP_URL
        ? 'MAIL_FROM: is required with SMTP_URL'
        : 'SMTP_URL: is required with MAIL_FROM'),
    values.OIDC_ISSUER !== undefined &&
      values.OIDC_CLIENT_ID === undefined &&
      'OIDC_CLIENT_ID: is required with OIDC_ISSUER',
    values.OIDC_ISSUER !== undefined && refuseIssuer(values),
    least > most && 'TASK_POLL_INTERVAL_MIN_MS: must not exceed TASK_POLL_INTERVAL_MAX_MS',
    values.PORT !== 0 &&
      values.PORT === values.METRICS_PORT &&
      values.HOST === values.METRICS_HOST &&
      'METRICS_PORT: must differ from PORT; 0 disables it',
  ].filter((line) => line !== false)
  if (lines.length > 0) throw new ConfigError(lines.join('\n'))
}

/** Undefined without a provider in the environment. */
function assembleOidc(values: Values) {
  if (values.OIDC_ISSUER === undefined) return undefined
  return {
    issuer: values.OIDC_ISSUER,
    clientId: values.OIDC_CLIENT_ID ?? '',
    clientSecret: values.OIDC_CLIENT_SECRET,
    rules: values.OIDC_RULES,
    trustsEmail: values.OIDC_TRUST_EMAIL,
  }
}

function assembleSignIn(values: Values) {
  const signUp = {
    isOpen: values.SIGN_UP === 'on',
    domains: values.SIGN_UP_DOMAINS,
    terms: values.SIGN_UP_TERMS,
    grant: {
      amountNanos: values.SIGN_UP_GRANT,
      currency: values.SIGN_UP_CURRENCY,
      perNetwork: values.SIGN_UP_GRANTS_PER_NETWORK,
      perDay: values.SIGN_UP_GRANTS_PER_DAY,
    },
  }
  return { oidc: assembleOidc(values), signUp }
}

function refuseIssuer(values: Values): string | false {
  const problem = judgeIssuer(values.OIDC_ISSUER ?? '', values.ALLOW_PRIVATE_TARGETS)
  return problem !== undefined && `OIDC_ISSUER: ${problem}`
}

/** Returns the URL at which this machine reaches a gateway listening on `host`. */
export function localUrl(host: string, port: number): string {
  const anywhere = host === '0.0.0.0' || host === '::'
  const name = anywhere ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host
  return `http://${name}:${port}`
}

const MASK = '••••'
/** A parameter of a URL: its name with the mark before it, and its value. */
const PARAMETER = /([?&][^=&?]*)=[^&#]*/g
const SECRET = /password|secret|token|key|auth|sig/i

/**
 * Masks secrets, also those within a URL: a password, which may contain `@`; a user without a
 * password, which is a token; and parameters.
 */
function show(name: string, value: string): string {
  if (SECRET_VARIABLES.has(name)) return maskSecret(value)
  return value
    .replace(/(:\/\/[^:/?#@]*:)[^/?#]*@/, `$1${MASK}@`)
    .replace(/(https?:\/\/)[^:/?#@]+@/, `$1${MASK}@`)
    .replace(PARAMETER, (whole, name: string) => (SECRET.test(name) ? `${name}=${MASK}` : whole))
}

function dropAbsent(environment: Environment): Record<string, string> {
  const variables = Object.entries(environment).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, value] as const],
  )
  return Object.fromEntries(variables)
}

function deepFreeze<T extends object>(value: T): T {
  for (const member of Object.values(value)) {
    if (typeof member === 'object' && member !== null) deepFreeze(member)
  }
  return Object.freeze(value)
}
