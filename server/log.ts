/**
 * The log: one JSON object a line, with an allow-list of fields. What is not listed here is never
 * written, so a prompt, a key or a header cannot slip into it by accident.
 */
import { pino } from 'pino'
import type { Log } from './lib/log.ts'

const ALLOWED = new Set([
  'account_id',
  'address',
  'attempts',
  'channel',
  'charged',
  'closed',
  'code',
  'data_dir',
  'delivery_id',
  'duration_ms',
  'error',
  'file',
  'forMs',
  'free_bytes',
  'hold_id',
  'job',
  'key_id',
  'kind',
  'kinds',
  'method',
  'model',
  'ms',
  'outcome',
  'owner_id',
  'pid',
  'port',
  'reason',
  'request_id',
  'revision',
  'route',
  'signal',
  'skew_ms',
  'status',
  'task_id',
  'upstream',
  'url',
  'version',
  'waiting',
])

const TEXT_MAX = 500
/** Anything that looks like one of the secrets we know, wherever it stands in a text. */
const SECRETS =
  /\b(tr-[0-9A-Za-z]{8,}|whsec_[0-9A-Za-z+/=_-]{8,}|sk-[0-9A-Za-z_-]{8,}|Bearer\s+\S+)/g

function scrub(text: string): string {
  return text.replace(SECRETS, '[secret]').slice(0, TEXT_MAX)
}

function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return scrub(String(error))
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  return {
    name: error.name,
    message: scrub(error.message),
    ...(code ? { code } : {}),
    ...(error.cause ? { cause: describeError(error.cause) } : {}),
    at: error.stack
      ?.split('\n')
      .slice(1, 4)
      .map((line) => line.trim()),
  }
}

function allow(fields: object): Record<string, unknown> {
  const kept: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(fields)) {
    if (!ALLOWED.has(name) || value === undefined) continue
    if (name === 'error') kept[name] = describeError(value)
    else kept[name] = typeof value === 'string' ? scrub(value) : value
  }
  return kept
}

export interface LogOptions {
  /** One of pino's: trace, debug, info, warn, error, silent. */
  readonly level: string
  /** `text` for people; `auto` is text on a terminal and JSON elsewhere. */
  readonly format: 'auto' | 'json' | 'text'
}

export function createLog({ level, format }: LogOptions): Log {
  const isText = format === 'text' || (format === 'auto' && process.stdout.isTTY)
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime }
  const logger = isText ? pino(options, { write: writeText }) : pino(options)
  return {
    debug: (fields, message) => logger.debug(allow(fields), message),
    info: (fields, message) => logger.info(allow(fields), message),
    warn: (fields, message) => logger.warn(allow(fields), message),
    error: (fields, message) => logger.error(allow(fields), message),
  }
}

const LEVELS: Readonly<Record<number, string>> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'WARN',
  50: 'ERROR',
}

/** `03:01:48 WARN settlements wait for the database waiting=3` */
function writeText(line: string): void {
  const { level, time, msg, ...fields } = JSON.parse(line)
  const told = Object.entries(fields).map(([name, value]) => {
    return `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`
  })
  const head = `${String(time).slice(11, 19)} ${LEVELS[level] ?? level} ${msg}`
  process.stdout.write(`${[head, ...told].join(' ')}\n`)
}
