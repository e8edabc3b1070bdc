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

/** `level` is one of pino's: trace, debug, info, warn, error, silent. */
export function createLog(level: string): Log {
  const logger = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime })
  return {
    debug: (fields, message) => logger.debug(allow(fields), message),
    info: (fields, message) => logger.info(allow(fields), message),
    warn: (fields, message) => logger.warn(allow(fields), message),
    error: (fields, message) => logger.error(allow(fields), message),
  }
}
