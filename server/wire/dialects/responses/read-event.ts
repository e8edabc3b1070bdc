/**
 * Reads one event of a Responses stream without parsing it: a watcher needs only the name and the
 * text length of a delta, and both are at places that can be found in the bytes.
 */
import { asString, type JsonObject } from '../../../base/lib/json.ts'
import { endsObject, parseEventData } from '../parse-event-data.ts'
import { readSseFrame } from '../sse.ts'

const EVENT_LINE = Buffer.from('event: ')
const TYPE_FIRST = Buffer.from('data: {"type":"')
const DELTA_KEYS = [Buffer.from('"delta":"'), Buffer.from('"delta": "')]
const SEQUENCE_KEY = Buffer.from('"sequence_number":')
const DIGITS = /^\d{1,15}(?=[,}])/
const LF = 0x0a
const QUOTE = 0x22
const BACKSLASH = 0x5c

/**
 * Returns the event's type, from the `event:` line, else from the data. Empty for comments,
 * `[DONE]` and data without a type.
 */
export function readEventType(frame: Buffer): string {
  if (startsWith(frame, EVENT_LINE)) {
    const name = readLine(frame, EVENT_LINE.length)
    if (isEventName(name)) return name
  } else if (startsWith(frame, TYPE_FIRST)) {
    const start = TYPE_FIRST.length
    return frame.toString('latin1', start, frame.indexOf(QUOTE, start))
  }
  return readTypeSlowly(frame)
}

const NAMED = /^event: ([\w.]+)\r?\ndata: ?\{/
const NAMED_BYTES = 128
const NO_BYTES: Buffer = Buffer.alloc(0)

/** Events in a row have mostly the same name: one comparison shows that the next has it, too. */
export class NamedEvents {
  private beginning = NO_BYTES
  private type = ''

  /**
   * Returns the type of an event whose first line names it and whose data is an object, by its
   * first and last bytes; undefined for others.
   */
  read(frame: Buffer): string | undefined {
    if (!endsObject(frame)) return undefined
    if (this.type !== '' && startsWith(frame, this.beginning)) return this.type
    const [beginning, name] = NAMED.exec(frame.toString('latin1', 0, NAMED_BYTES)) ?? []
    if (beginning === undefined || !isEventName(name)) return undefined
    this.beginning = Buffer.from(beginning)
    this.type = name
    return name
  }
}

/** Returns the rest of a line, which ends in LF, CR or both. */
function readLine(frame: Buffer, start: number): string {
  const lf = frame.indexOf(LF, start)
  const line = frame.toString('latin1', start, lf === -1 ? frame.length : lf)
  const cr = line.indexOf('\r')
  return cr === -1 ? line : line.slice(0, cr)
}

function isEventName(name: string | undefined): name is string {
  return name === 'error' || (name?.startsWith('response.') ?? false)
}

/** Reads `type` from the `event:` line or, like clients, from the data, wherever it stands. */
function readTypeSlowly(frame: Buffer): string {
  const event = readSseFrame(frame)
  if (!event) return ''
  if (isEventName(event.event)) return event.event
  const eventName = event.event === 'message' ? undefined : event.event
  return asString(parseEventData(event)?.type) ?? eventName ?? ''
}

function startsWith(frame: Buffer, prefix: Buffer): boolean {
  return frame.length > prefix.length && prefix.compare(frame, 0, prefix.length) === 0
}

/** Returns the JSON object of an event; undefined without one. */
export function readEventData(frame: Buffer): JsonObject | undefined {
  const event = readSseFrame(frame)
  return event && parseEventData(event)
}

/** Returns an event's number among those of its response; undefined when it has none. */
export function readSequenceNumber(frame: Buffer): number | undefined {
  const found = frame.indexOf(SEQUENCE_KEY)
  const start = found + SEQUENCE_KEY.length
  const digits = found === -1 ? undefined : DIGITS.exec(frame.toString('latin1', start, start + 20))
  if (digits) return Number(digits[0])
  const number = readEventData(frame)?.sequence_number
  return typeof number === 'number' ? number : undefined
}

/** Returns the UTF-8 bytes of a delta's text. */
export function countDeltaBytes(frame: Buffer): number {
  for (const key of DELTA_KEYS) {
    const found = frame.indexOf(key)
    if (found === -1) continue
    const start = found + key.length
    const end = findPlainEnd(frame, start)
    if (end !== -1) return end - start
  }
  const delta = asString(readEventData(frame)?.delta)
  return delta === undefined ? 0 : Buffer.byteLength(delta)
}

/** Returns the quote that ends a text without escapes; -1 if it has some, or no end. */
function findPlainEnd(frame: Buffer, start: number): number {
  for (let at = start; at < frame.length; at += 1) {
    if (frame[at] === QUOTE) return at
    if (frame[at] === BACKSLASH) return -1
  }
  return -1
}
