/**
 * The log: one JSON object per line, with the fields of lib/log.ts. Other fields are never written,
 * so a prompt, a key or a header cannot reach it by accident.
 */
import { LOG_FIELDS, type Log, type LogLine } from '../../base/lib/log.ts'
import { oneLine } from '../../base/lib/text/one-line.ts'

const ALLOWED: ReadonlySet<string> = new Set(LOG_FIELDS)

const TEXT_MAX = 500
/** Matches the known forms of secrets anywhere in a text. */
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
    code,
    ...(error.cause ? { cause: describeError(error.cause) } : {}),
    at: error.stack
      ?.split('\n')
      .slice(1, 4)
      .map((line) => line.trim()),
  }
}

function allow(fields: object): Record<string, unknown> {
  const allowed: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(fields)) {
    if (!ALLOWED.has(name) || value === undefined) continue
    if (name === 'error') allowed[name] = describeError(value)
    else allowed[name] = typeof value === 'string' ? scrub(value) : value
  }
  return allowed
}

/** Levels as numbers with gaps, as tools for such logs expect them. */
const LEVELS = { trace: 10, debug: 20, info: 30, warn: 40, error: 50, silent: Infinity } as const
type Level = keyof typeof LEVELS

export interface LogOptions {
  /** The lowest level that is written. */
  readonly level: Level
  /** `text` is for people; `auto` is text on a terminal and JSON elsewhere. */
  readonly format: 'auto' | 'json' | 'text'
}

/**
 * Writes to standard output, in order, without waiting for its reader. `forward` gets each line as
 * well.
 */
export function createLog(
  { level: least, format }: LogOptions,
  forward?: (line: LogLine) => void,
): Log {
  const isText = format === 'text' || (format === 'auto' && process.stdout.isTTY)
  const toLine = isText ? writeText : writeJson
  const at = (level: keyof Log) => {
    if (LEVELS[level] < LEVELS[least]) return () => undefined
    return (facts: object, message: string) => {
      const fields = allow(facts)
      const time = new Date()
      write(toLine(level, time.toISOString(), fields, message))
      forward?.({ level, time, fields, message })
    }
  }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

/** The most bytes that wait for a reader that does not read. */
const WAITING_BYTES_MAX = 16 * 1024 * 1024
let lost = 0

/**
 * Drops lines, and reports that later, instead of using unlimited memory or delaying every call.
 */
function write(line: string): void {
  if (process.stdout.writableLength > WAITING_BYTES_MAX) {
    lost += 1
    return
  }
  process.stdout.write(line)
  if (lost === 0) return
  const note = {
    level: LEVELS.warn,
    time: new Date(),
    count: lost,
    msg: 'lines of the log are lost',
  }
  lost = 0
  process.stdout.write(`${JSON.stringify(note)}\n`)
}

type Fields = Readonly<Record<string, unknown>>

function writeJson(level: Level, time: string, fields: Fields, message: string): string {
  return `${escapeForTerminal(toJson({ level: LEVELS[level], time, ...fields, msg: message }))}\n`
}

/** Escapes what a terminal would obey and JSON permits in a string; `oneLine` is for plain text. */
function escapeForTerminal(json: string): string {
  return json.replace(/[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

/** `03:01:48 WARN settlements wait for the database waiting=3` */
function writeText(level: Level, time: string, fields: Fields, message: string): string {
  const values = Object.entries(fields).map(([name, value]) => {
    return `${name}=${typeof value === 'string' ? value : toJson(value)}`
  })
  const name = LEVELS[level] >= LEVELS.warn ? level.toUpperCase() : level
  return `${oneLine([time.slice(11, 19), name, message, ...values].join(' '))}\n`
}

/** Writes bigints digit by digit, since amounts may exceed JSON's safe numbers. */
function toJson(value: unknown): string {
  return JSON.stringify(value, (_name, part) => (typeof part === 'bigint' ? String(part) : part))
}
