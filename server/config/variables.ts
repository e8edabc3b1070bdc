/** Every environment variable that the gateway reads, with its default and what it is for. */
import { z } from 'zod'
import { SECRET_KEY_LENGTH_MIN } from '../lib/secrets/secrets.ts'

const SIZE = /^(\d{1,12})(|B|KB|MB|GB)$/i
const FACTORS: Readonly<Record<string, number>> = { KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 }
const MB = 1024 ** 2
const MINUTES_MS = 60_000

function whole(least: number, most: number) {
  const error = `must be a whole number from ${least} to ${most}`
  return z
    .string()
    .regex(/^\d{1,15}$/, error)
    .transform(Number)
    .pipe(z.number().min(least, error).max(most, error))
}

const milliseconds = whole(1, 24 * 60 * MINUTES_MS)

const bytes = z
  .string()
  .regex(SIZE, 'must be a number of bytes, for example 10MB')
  .transform((text) => {
    const [, digits = '0', unit = ''] = SIZE.exec(text) ?? []
    return Number(digits) * (FACTORS[unit.toUpperCase()] ?? 1)
  })
  .pipe(
    z
      .number()
      .min(1024, 'must be at least 1KB')
      .max(1024 ** 3, 'must be at most 1GB'),
  )

/** Like `bytes`, for disks. */
const storedBytes = z
  .string()
  .regex(/^\d{1,9}(GB|TB)$/i, 'must be a number of GB or TB, for example 20GB')
  .transform((text) => Number.parseInt(text, 10) * (/TB$/i.test(text) ? 1000 : 1) * 1_000_000_000)

const flag = z
  .string()
  .regex(/^(1|0|true|false|yes|no|on|off)$/i, 'must be true or false')
  .transform((text) => /^(1|true|yes|on)$/i.test(text))

const url = (protocol: RegExp, example: string) =>
  z.url({ protocol, error: `must be an address such as ${example}` })
const webUrl = url(/^https?$/, 'https://gateway.example.com').transform((text) =>
  text.replace(/\/+$/, ''),
)

const secretKeys = z
  .string()
  .transform((text) => text.split(',').map((key) => key.trim()))
  .pipe(
    z.array(
      z.string().min(SECRET_KEY_LENGTH_MIN, {
        error: `must have at least ${SECRET_KEY_LENGTH_MIN} characters`,
      }),
    ),
  )

const ports = z
  .string()
  .transform((text) => text.split(',').map((port) => port.trim()))
  .pipe(z.array(whole(1, 65_535)))

const networks = z
  .string()
  .transform((text) => text.split(',').map((network) => network.trim()))
  .pipe(z.array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], 'must be like 10.0.0.0/8')))

export const VARIABLES = {
  ROLE: z
    .enum(['all', 'api', 'worker'], 'must be all, api or worker')
    .default('all')
    .describe('What this process does: answer calls, finish tasks, or both.'),
  HOST: z.string().default('127.0.0.1').describe('Address the gateway listens on.'),
  PORT: whole(0, 65_535).default(8080).describe('Port of the gateway; 0 takes any free one.'),
  PUBLIC_URL: webUrl
    .optional()
    .describe(
      'How callers, and vendors that fetch files, reach the gateway; http://HOST:PORT when absent.',
    ),
  TRUSTED_PROXIES: networks
    .default([])
    .describe('Proxies whose X-Forwarded-For is believed: addresses or networks, with commas.'),
  OPERATOR_SECOND_FACTOR: z
    .enum(['required', 'optional'], 'must be required or optional')
    .default('required')
    .describe('Whether operators need one to see secrets and to change prices and balances.'),
  DATABASE_URL: url(/^postgres(ql)?$/, 'postgres://user:password@host/database')
    .optional()
    .describe('Your own PostgreSQL 14 or newer; the embedded one when absent.'),
  DATA_DIR: z.string().default('data').describe('Folder of the embedded database and its secrets.'),
  SECRET_KEY: secretKeys
    .optional()
    .describe(
      'Encrypts secrets at rest; made up and kept in DATA_DIR on the embedded database, ' +
        'required otherwise. To rotate: NEW,OLD.',
    ),
  SITE: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,19}$/, 'must be a short name such as cn')
    .default('cn')
    .describe('Where this gateway stands; minutes exist only on cn.'),
  VALKEY_URL: url(/^(redis|valkey)s?$/, 'redis://host:6379')
    .optional()
    .describe('Kept for later: rate limits are shared in equal parts, without a store between.'),
  S3_ENDPOINT: webUrl.optional().describe('Object store for media; DATA_DIR when absent.'),
  S3_REGION: z.string().default('us-east-1').describe('Region of the object store.'),
  S3_BUCKET: z.string().optional().describe('Bucket for media.'),
  S3_ACCESS_KEY_ID: z.string().optional().describe('Credentials of the object store.'),
  S3_SECRET_ACCESS_KEY: z.string().optional().describe('Credentials of the object store.'),
  TOP_UP_SECRET: z
    .string()
    .min(32, 'must have at least 32 characters')
    .optional()
    .describe('Signs payments at POST /admin/v1/top-ups; empty takes none.'),
  ALLOW_PRIVATE_TARGETS: flag
    .default(false)
    .describe('Whether addresses that callers name may lead into private networks.'),
  TARGET_PORTS: ports
    .default([80, 443, 8080, 8443])
    .describe('Ports that addresses named by callers may have, with commas between them.'),
  METRICS_HOST: z.string().default('127.0.0.1').describe('Address of the metrics.'),
  METRICS_PORT: whole(0, 65_535).default(9464).describe('Port of the metrics; 0 for none.'),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'], 'must be a level such as info')
    .default('info')
    .describe('Least level that is logged.'),
  LOG_FORMAT: z
    .enum(['auto', 'json', 'text'], 'must be auto, json or text')
    .default('auto')
    .describe('json for machines, text for people; auto is text on a terminal.'),
  OTEL_EXPORTER_OTLP_ENDPOINT: webUrl
    .optional()
    .describe('Collector of traces (OTLP over HTTP, JSON); none are made when absent.'),

  BODY_BYTES_MAX: bytes.default(10 * MB).describe('Largest JSON body.'),
  CHAT_BODY_BYTES_MAX: bytes
    .default(32 * MB)
    .describe('Largest body of text, image and video requests, which may carry pictures.'),
  JSON_DEPTH_MAX: whole(8, 1000).default(64).describe('Deepest JSON.'),
  HEADER_BYTES_MAX: bytes.default(16 * 1024).describe('All request headers together.'),
  HEADERS_MAX: whole(10, 1000).default(100).describe('Most request headers.'),
  HEADERS_TIMEOUT_MS: milliseconds.default(10_000).describe('For the request head to arrive.'),
  REQUEST_TIMEOUT_MS: milliseconds
    .default(60_000)
    .describe('For the whole request to arrive; an upload must bring 16 KB/s over this span.'),
  KEEP_ALIVE_TIMEOUT_MS: milliseconds
    .default(75_000)
    .describe('An idle connection is kept this long: longer than load balancers do.'),
  CONNECTIONS_MAX: whole(1, 1_000_000).default(20_000).describe('Most open connections.'),
  CALLS_MAX: whole(1, 1_000_000).default(12_000).describe('Most calls at once; then 503.'),
  CLIENT_STALL_MS: milliseconds
    .default(120_000)
    .describe('A caller that takes nothing for so long is treated as gone.'),
  DRAIN_SECONDS: whole(0, 3600)
    .default(30)
    .describe('On SIGTERM, calls may go on for this long before they are cut.'),

  TASK_LOOK_MS_MIN: milliseconds.default(2_000).describe('A young task is looked at this often.'),
  TASK_LOOK_MS_MAX: milliseconds.default(30_000).describe('An old task is looked at this often.'),
  TASK_LEASE_MS: milliseconds
    .default(25_000)
    .describe('After so long another process takes over from one that died.'),
  TASK_SUBMIT_TIMEOUT_MS: milliseconds
    .default(60_000)
    .describe('For an upstream to take a task; after it nobody knows whether it did.'),
  TASK_UNKNOWN_MS: milliseconds
    .default(600_000)
    .describe('A task that the upstream never confirmed is given up and paid back after this.'),
  TASK_CALLS_PER_CHANNEL: whole(1, 10_000)
    .default(16)
    .describe('Calls that tasks make at once on one channel, in this process; others wait.'),
  TASK_AGE_MS_MAX: milliseconds
    .default(49 * 3_600_000)
    .describe('A task without an end is given up after this.'),

  UPSTREAM_CONNECT_TIMEOUT_MS: milliseconds.default(10_000).describe('To connect to an upstream.'),
  UPSTREAM_FIRST_BYTE_TIMEOUT_MS: milliseconds
    .default(600_000)
    .describe('For the first byte of an answer; a model may have its own.'),
  UPSTREAM_IDLE_TIMEOUT_MS: milliseconds
    .default(300_000)
    .describe('Between two bytes of an answer; a model may have its own.'),
  UPSTREAM_TOTAL_TIMEOUT_MS: milliseconds
    .default(1_800_000)
    .describe('For an answer that is no stream, to its last byte; a model may have its own.'),
  UPSTREAM_STREAM_TIMEOUT_MS: milliseconds
    .default(3_600_000)
    .describe('For a stream, from its first byte to its last; a model may have its own.'),
  UPSTREAM_CONNECTIONS_MAX: whole(1, 100_000)
    .default(10_000)
    .describe('Most connections to one upstream host.'),
  UPSTREAM_ANSWER_BYTES_MAX: bytes.default(64 * MB).describe('Largest answer that is no stream.'),
  UPSTREAM_DRAIN_MS: milliseconds
    .default(120_000)
    .describe('When the caller left, an upstream is read on this long to learn what it cost.'),
  UPSTREAM_DRAIN_BYTES: bytes.default(16 * MB).describe('The same, in bytes.'),
  UPSTREAM_DRAIN_SLOTS: whole(0, 100_000)
    .default(1_000)
    .describe('How many upstreams may be read on at once for callers that left.'),

  STORED_BYTES_MAX: storedBytes
    .default(20_000_000_000)
    .describe('Files and media that one account may keep; more get 413, or are not copied.'),

  UPLOADS_MAX: whole(2, 10_000)
    .default(64)
    .describe('Uploads of files at once, half of them for one account; then 503 or 429.'),
  HOUSEKEEPING_MS: milliseconds
    .default(60_000)
    .describe('Between two rounds of clearing away what has expired.'),
  DELIVERY_DAYS: whole(1, 36_500)
    .default(90)
    .describe('Webhooks that ended are listed for so many days.'),
  TIMELINE_DAYS: whole(7, 36_500)
    .default(365)
    .describe('Steps of tasks are kept for so many days; tasks and charges for good.'),

  HOLD_QUEUE_MAX: whole(1, 1_000_000)
    .default(20_000)
    .describe('Calls that may wait for the database to freeze their money; then 503.'),
  SETTLE_QUEUE_MAX: whole(1, 10_000_000)
    .default(200_000)
    .describe('Settlements kept in memory while the database is away; then new calls get 503.'),
} satisfies Record<string, z.ZodType>

/** Variables whose values are never printed. */
export const SECRET_VARIABLES: ReadonlySet<string> = new Set([
  'SECRET_KEY',
  'S3_SECRET_ACCESS_KEY',
  'TOP_UP_SECRET',
])
