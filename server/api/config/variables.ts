/** Every environment variable of the gateway, with its default and description. */
import { z } from 'zod'
import { readMailbox, readSmtpUrl } from '../../base/lib/text/smtp-url.ts'
import { SIGN_IN_VARIABLES } from './sign-in-variables.ts'
import {
  bytes,
  bytesUpTo,
  flag,
  host,
  MB,
  milliseconds,
  origins,
  ports,
  proxyNetworks,
  readBy,
  secretKeys,
  storedBytes,
  url,
  webBase,
  webUrl,
  wholeNumber,
} from './variable-kinds.ts'

/** By OpenTelemetry's names. */
const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

export const VARIABLES = {
  ROLE: z
    .enum(['all', 'api', 'worker'], 'must be all, api or worker')
    .default('all')
    .describe(
      'Work of this process: `api` answers calls, `worker` finishes tasks, `all` does both.',
    ),
  WORKERS: z
    .union([z.literal('auto'), wholeNumber(1, 64)], 'must be auto, or a whole number from 1 to 64')
    .default(1)
    .describe('Processes that share the port; `auto` runs one per processor core.'),
  HOST: host.default('127.0.0.1').describe('Address the gateway listens on.'),
  PORT: wholeNumber(0, 65_535).default(8080).describe('Port of the gateway; 0 takes any free one.'),
  PUBLIC_URL: webBase
    .optional()
    .describe(
      'URL at which callers, and vendors that fetch files, reach the gateway; ' +
        'http://HOST:PORT by default.',
    ),
  TRUSTED_PROXIES: proxyNetworks
    .default([])
    .describe('Proxies whose X-Forwarded-For is trusted: addresses or networks, comma-separated.'),
  OPERATOR_SECOND_FACTOR: z
    .enum(['required', 'optional'], 'must be required or optional')
    .default('required')
    .describe(
      'Whether operators need a second factor to see secrets and change prices and ' + 'balances.',
    ),
  DATABASE_URL: url(/^postgres(ql)?$/, 'postgres://user:password@host/database')
    .optional()
    .describe('Your own PostgreSQL 14 or newer; the embedded one by default.'),
  DATA_DIR: z
    .string()
    .default('data')
    .describe(
      'Folder of the embedded database, generated secrets, and settlements that wait for a ' +
        'database.',
    ),
  SECRET_KEY: secretKeys
    .optional()
    .describe(
      'Encrypts secrets at rest. With the embedded database it is generated and kept in ' +
        'DATA_DIR; otherwise it is required. To rotate it, set NEW,OLD.',
    ),
  SITE: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,19}$/, 'must be a short name such as cn')
    .default('cn')
    .describe('Location of this gateway; minutes are available only at cn.'),
  S3_ENDPOINT: webBase.optional().describe('Object store for media; DATA_DIR by default.'),
  S3_REGION: z.string().default('us-east-1').describe('Region of the object store.'),
  S3_BUCKET: z.string().optional().describe('Bucket for media.'),
  S3_ACCESS_KEY_ID: z
    .string()
    .optional()
    .describe('Access key of the object store; by default the role of the machine.'),
  S3_SECRET_ACCESS_KEY: z.string().optional().describe('Secret of S3_ACCESS_KEY_ID.'),
  FFMPEG: z
    .string()
    .min(1)
    .default('ffmpeg')
    .describe(
      'Program that converts recordings for minutes when the vendor does not accept their ' +
        'format: a path, or a name on PATH; `off` for none.',
    ),
  SMTP_URL: readBy(readSmtpUrl)
    .optional()
    .describe(
      'Mail server for alerts: smtps://user:password@host:465, or smtp://host:587 with STARTTLS; ' +
        '?starttls=off for a relay without TLS. Without it no mail is sent.',
    ),
  MAIL_FROM: readBy(readMailbox)
    .optional()
    .describe('Sender of mail: Tributary <gateway@example.com>; required with SMTP_URL.'),
  ...SIGN_IN_VARIABLES,
  TOP_UP_SECRET: z
    .string()
    .min(32, 'must have at least 32 characters')
    .optional()
    .describe('Verifies payments at POST /admin/v1/top-ups; without it none are accepted.'),
  ALLOW_PRIVATE_TARGETS: flag
    .default(false)
    .describe('Whether URLs from callers may lead into private networks.'),
  TARGET_PORTS: ports
    .default([80, 443, 8080, 8443])
    .describe('Ports allowed in URLs from callers, comma-separated.'),
  METRICS_HOST: host.default('127.0.0.1').describe('Address of the metrics listener.'),
  METRICS_PORT: wholeNumber(0, 65_535)
    .default(9464)
    .describe('Port of the metrics listener; 0 disables it.'),
  METRICS_PLACES_MAX: wholeNumber(1, 100_000)
    .default(500)
    .describe(
      'Most combinations of endpoint, model and channel with metrics of their own; further ' +
        'ones count as `other`.',
    ),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'], 'must be a level such as info')
    .default('info')
    .describe('Lowest level that is logged.'),
  ACCESS_LOG: flag
    .default(true)
    .describe('Whether every request of the public API is logged, on one line at level info.'),
  LOG_FORMAT: z
    .enum(['auto', 'json', 'text'], 'must be auto, json or text')
    .default('auto')
    .describe('json for machines, text for people; auto is text on a terminal.'),
  OTEL_EXPORTER_OTLP_ENDPOINT: webUrl
    .optional()
    .describe(
      'Collector of traces, metrics and logs. If it is set, the OpenTelemetry SDK is loaded, ' +
        'which reads its other variables as well.',
    ),
  OTEL_TRACES_SAMPLER: z
    .enum(SAMPLERS, `must be one of ${SAMPLERS.join(', ')}`)
    .default('parentbased_traceidratio')
    .describe('Which requests are traced; `parentbased` obeys the caller’s `traceparent`.'),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(?:0(?:\.\d{1,9})?|1(?:\.0{1,9})?)$/, 'must be a share from 0 to 1')
    .transform(Number)
    .default(1)
    .describe('Share of the requests that a sampler by ratio traces; 0 to 1.'),

  CORS_ORIGINS: origins
    .optional()
    .describe('Origins whose pages may call the public API, comma-separated; * for any.'),
  COMPRESS_RESPONSES: flag
    .default(true)
    .describe('Whether JSON of at least 1 KB is compressed for callers that accept it.'),
  BODY_BYTES_MAX: bytes.default(10 * MB).describe('Largest JSON body.'),
  CHAT_BODY_BYTES_MAX: bytes
    .default(64 * MB)
    .describe('Largest body of text, image and video requests, which may contain pictures.'),
  HEADER_BYTES_MAX: bytes
    .default(16 * 1024)
    .describe('Largest total size of the headers of a request.'),
  HEADERS_MAX: wholeNumber(10, 1000).default(100).describe('Most request headers.'),
  HEADERS_TIMEOUT_MS: milliseconds.default(10_000).describe('Time for the request head to arrive.'),
  REQUEST_TIMEOUT_MS: milliseconds
    .default(60_000)
    .describe(
      'Time for the whole request to arrive; over this span an upload must average 16 KB/s.',
    ),
  KEEP_ALIVE_TIMEOUT_MS: milliseconds
    .default(75_000)
    .describe(
      'Time that an idle connection is kept; should be longer than load balancers keep theirs.',
    ),
  CONNECTIONS_MAX: wholeNumber(1, 1_000_000).default(20_000).describe('Most open connections.'),
  SOCKETS_MAX: wholeNumber(1, 1_000_000)
    .default(4_000)
    .describe(
      'Most open WebSockets of callers, a ninth of them for one account; further ones get 503 or ' +
        '429.',
    ),
  MEMORY_BYTES_MAX: bytesUpTo(64)
    .optional()
    .describe(
      'Most bytes of requests, answers and WebSockets in memory; by default an eighth of the ' +
        'memory of the machine or container, shared by `WORKERS`, from 192MB to 1GB.',
    ),
  SPOOL_BYTES_MAX: bytesUpTo(1024)
    .default(8 * 1024 * MB)
    .describe(
      'Most bytes of calls in files (`DATA_DIR/spool`), but no more than a quarter of the disk ' +
        'that is free at the start; a third of them for one account.',
    ),
  CALLS_MAX: wholeNumber(1, 1_000_000)
    .default(12_000)
    .describe(
      'Most requests with a key that run at once, shared fairly by accounts: one alone gets ' +
        '75 %; further ones get 503.',
    ),
  REFUSALS_PER_MINUTE: wholeNumber(2, 10_000_000)
    .default(6_000)
    .describe(
      'Most requests of an account that this process refuses in a minute, half of them of one ' +
        'key; 64 KB of a body count as one more. Then all get 429 until the rate is lower.',
    ),
  CLIENT_STALL_MS: milliseconds
    .default(120_000)
    .describe('A caller that reads nothing for this long is treated as disconnected.'),
  DRAIN_DELAY_SECONDS: wholeNumber(0, 3600)
    .optional()
    .describe(
      'On SIGTERM, time for which calls are still accepted while /readyz is 503, so that load ' +
        'balancers send traffic elsewhere; 5 with DATABASE_URL, otherwise 0.',
    ),
  DRAIN_SECONDS: wholeNumber(0, 3600)
    .default(30)
    .describe('On SIGTERM, time for running calls to finish before they are cut off.'),

  TASK_POLL_INTERVAL_MIN_MS: milliseconds.default(2_000).describe('Poll interval of a new task.'),
  TASK_POLL_INTERVAL_MAX_MS: milliseconds.default(30_000).describe('Poll interval of an old task.'),
  TASK_LEASE_MS: milliseconds
    .default(25_000)
    .describe('Time after which another process takes over the tasks of one that died.'),
  TASK_SUBMIT_TIMEOUT_MS: milliseconds
    .default(60_000)
    .describe('Time for an upstream to accept a task; afterwards the outcome is unknown.'),
  TASK_UNKNOWN_MS: milliseconds
    .default(600_000)
    .describe(
      'Time after which a task that the upstream never confirmed fails and its hold is ' +
        'released.',
    ),
  TASK_CALLS_PER_CHANNEL: wholeNumber(1, 10_000)
    .default(16)
    .describe('Most concurrent task calls on one channel in this process; others wait.'),
  TASK_AGE_MS_MAX: milliseconds
    .default(49 * 3_600_000)
    .describe('Age at which an unfinished task is abandoned.'),

  UPSTREAM_CONNECT_TIMEOUT_MS: milliseconds
    .default(10_000)
    .describe('Time to connect to an upstream, with the handshake of a WebSocket.'),
  UPSTREAM_FIRST_BYTE_TIMEOUT_MS: milliseconds
    .default(600_000)
    .describe('Time to the first byte of a response; a model may override it.'),
  UPSTREAM_IDLE_TIMEOUT_MS: milliseconds
    .default(300_000)
    .describe('Longest pause between two bytes of a response; a model may override it.'),
  UPSTREAM_TOTAL_TIMEOUT_MS: milliseconds
    .default(1_800_000)
    .describe(
      'Time of an attempt to the last byte of a response that is not streamed, or to the first ' +
        'event of a stream; a model may override it.',
    ),
  UPSTREAM_STREAM_TIMEOUT_MS: milliseconds
    .default(3_600_000)
    .describe('Time from the first byte of a stream to its last; a model may override it.'),
  UPSTREAM_CONNECTIONS_MAX: wholeNumber(1, 100_000)
    .default(10_000)
    .describe('Most connections to one upstream host.'),
  UPSTREAM_ANSWER_BYTES_MAX: bytes
    .default(64 * MB)
    .describe('Largest response that is not streamed.'),
  UPSTREAM_DRAIN_MS: milliseconds
    .default(120_000)
    .describe(
      'After the caller disconnects, time for which the upstream is still read, to learn what ' +
        'the call cost.',
    ),
  UPSTREAM_DRAIN_BYTES: bytes
    .default(16 * MB)
    .describe('After the caller disconnects, most bytes that are still read from the upstream.'),
  UPSTREAM_DRAIN_SLOTS: wholeNumber(0, 100_000)
    .default(1_000)
    .describe('Most upstream responses that are read at once for disconnected callers.'),

  STORED_BYTES_MAX: storedBytes
    .default(20_000_000_000)
    .describe(
      'Most bytes of files and media per account; further uploads get 413, further results ' +
        'are not copied.',
    ),

  UPLOADS_MAX: wholeNumber(2, 10_000)
    .default(64)
    .describe(
      'Most concurrent file uploads, shared fairly by accounts: one alone gets 75 %; further ' +
        'ones get 503.',
    ),
  HOUSEKEEPING_MS: milliseconds
    .default(60_000)
    .describe('Interval of the housekeeping that removes expired data.'),
  DELIVERY_DAYS: wholeNumber(1, 36_500)
    .default(90)
    .describe('Days for which finished webhook deliveries are listed.'),
  TIMELINE_DAYS: wholeNumber(7, 36_500)
    .default(365)
    .describe('Days for which task timelines are kept; tasks and charges are kept for good.'),

  ADMIT_WAIT_SECONDS: wholeNumber(0, 60)
    .default(0)
    .describe(
      'While the database is unavailable, time that a new call waits for it before it gets a ' +
        '503; set it to the time that the promotion of a replica takes.',
    ),
  HOLD_QUEUE_MAX: wholeNumber(1, 1_000_000)
    .default(20_000)
    .describe('Most calls waiting for the database to take their hold; further ones get 503.'),
  SETTLE_QUEUE_MAX: wholeNumber(1, 10_000_000)
    .default(200_000)
    .describe(
      'Most settlements kept in memory while the database is unavailable; beyond that, new ' +
        'calls get 503.',
    ),
} satisfies Record<string, z.ZodType>

/** Variables whose values are never printed. */
export const SECRET_VARIABLES: ReadonlySet<string> = new Set([
  'SECRET_KEY',
  'S3_SECRET_ACCESS_KEY',
  'TOP_UP_SECRET',
  'OIDC_CLIENT_SECRET',
])
