/**
 * States the charge as `usage.cost` in an answer. The figure is spliced into the answer's bytes as
 * decimal text of at most nine digits behind the point: it is exact as text, and a reader of
 * doubles gets the nearest one. A cost that the vendor states is removed, since it is a different
 * figure.
 */
import { isObject, type JsonObject, member, tryParseJson } from '../../../base/lib/json.ts'
import { cutJson } from '../cut-json.ts'
import { type JsonMember, scanMembers } from '../json-scan.ts'
import { spliceJson } from '../splice.ts'
import { encodeSseEvent, readSseFrame } from '../sse.ts'

/** The charge as the books have it. */
export interface CostFigure {
  /** A JSON number. */
  readonly cost: string
  /** A word for a figure that is reviewed or estimated; absent for stated usage. */
  readonly basis?: string | undefined
}

/** The place of a dialect's usage. */
export interface UsagePlace {
  /** In events of a stream. */
  readonly path: readonly string[]
  /** The option of a request without which a stream has no usage, as object and member. */
  readonly option?: readonly [string, string]
  /**
   * Returns the kind of an event: `last` if its usage may be the last, `output` if it contains more
   * of the answer. Events of the kind `other` may follow the last usage.
   */
  readonly kindOf: (event: JsonObject) => 'last' | 'output' | 'other'
}

/** Its path in documents of all dialects. */
const IN_DOCUMENT = ['usage']

/** Names in the usage that only the gateway writes. */
const STATED = ['cost', 'cost_basis']
const NAME = Buffer.from('"usage"')
/** A letter of the name may be written as an escape. */
const ESCAPE = Buffer.from(String.raw`\u00`)
const mayState = (bytes: Buffer) => bytes.includes(NAME) || bytes.includes(ESCAPE)
const DATA = Buffer.from('data:')
const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
const OPEN_OBJECT = 0x7b

/**
 * Returns the body with the figure, or without any if it is undefined. A document without usage,
 * or with usage in a place of its vendor's own, gets one that has the figure alone.
 */
export function stateCost(body: Buffer, figure: CostFigure | undefined): Buffer {
  const document = figure || mayState(body) ? tryParseJson(body) : undefined
  if (!isObject(document)) return body
  const isMissing = document.usage === undefined || document.usage === null
  if (figure && isMissing) return addUsage(body, figure)
  return stateAt(body, IN_DOCUMENT, figure)
}

function addUsage(bytes: Buffer, figure: CostFigure): Buffer {
  const start = bytes.indexOf(OPEN_OBJECT)
  const document = bytes.subarray(start)
  const members = scanMembers(document, 0)
  // If a name appears twice, a reader may use either value.
  if (members.filter(({ key }) => key === IN_DOCUMENT[0]).length > 1) return bytes
  const fields: ReadonlyMap<string, JsonMember> = new Map(members.map((one) => [one.key, one]))
  const usage = stateIn(Buffer.from('{}'), figure).toString()
  return Buffer.concat([bytes.subarray(0, start), spliceJson(document, fields, { set: { usage } })])
}

/** Returns the document of an event that may have usage, of a frame of an event stream. */
export function readUsageEvent(frame: Buffer): JsonObject | undefined {
  if (!mayState(frame)) return undefined
  return readEvent(frame)
}

export function readEvent(frame: Buffer): JsonObject | undefined {
  const event = readSseFrame(frame)
  const document = event && tryParseJson(Buffer.from(event.data))
  return isObject(document) ? document : undefined
}

/** Returns the frame of an event that was read with the figure, or without any. */
export function stateCostInFrame(
  frame: Buffer,
  path: readonly string[],
  figure: CostFigure | undefined,
): Buffer {
  const range = findData(frame)
  if (range) {
    const data = frame.subarray(range.start, range.end)
    const stated = stateAt(data, path, figure)
    if (stated === data) return frame
    return Buffer.concat([frame.subarray(0, range.start), stated, frame.subarray(range.end)])
  }
  const event = readSseFrame(frame)
  if (!event) return frame
  const data = Buffer.from(event.data)
  const stated = stateAt(data, path, figure)
  if (stated === data) return frame
  const name = event.event === 'message' ? undefined : event.event
  // The rest of a line break that arrived in two pieces: without it, the previous frame has no end.
  const rest = frame[0] === LF ? '\n' : ''
  return Buffer.from(rest + encodeSseEvent(name, stated.toString()))
}

/** Returns where the data of a frame stands; undefined unless it is one line. */
function findData(frame: Buffer): { readonly start: number; readonly end: number } | undefined {
  let found: { start: number; end: number } | undefined
  for (let at = frame.indexOf(DATA); at !== -1; at = frame.indexOf(DATA, at + 1)) {
    const before = frame[at - 1]
    if (at > 0 && before !== LF && before !== CR) continue
    if (found) return undefined
    const after = at + DATA.length
    const start = frame[after] === SPACE ? after + 1 : after
    found = { start, end: endOfLine(frame, start) }
    at = found.end
  }
  return found
}

function endOfLine(frame: Buffer, start: number): number {
  let end = start
  while (end < frame.length && frame[end] !== LF && frame[end] !== CR) end += 1
  return end
}

/** `bytes` are an object that JSON.parse has accepted. Returns them if nothing changes. */
function stateAt(bytes: Buffer, path: readonly string[], figure: CostFigure | undefined): Buffer {
  let start = bytes.indexOf(OPEN_OBJECT)
  let end = bytes.length
  for (const step of path) {
    const found = scanMembers(bytes, start).findLast(({ key }) => key === step)
    if (!found || bytes[found.valueStart] !== OPEN_OBJECT) return bytes
    start = found.valueStart
    end = found.valueEnd
  }
  const usage = bytes.subarray(start, end)
  const stated = stateIn(usage, figure)
  if (stated === usage) return bytes
  return Buffer.concat([bytes.subarray(0, start), stated, bytes.subarray(end)])
}

function stateIn(stated: Buffer, figure: CostFigure | undefined): Buffer {
  // If a name appears twice, a reader may use either value.
  const names = scanMembers(stated, 0).flatMap(({ key }) => (STATED.includes(key) ? key : []))
  const isRepeated = new Set(names).size < names.length
  const usage = isRepeated ? cutJson(stated, [['cost'], ['cost_basis']]) : stated
  const members = scanMembers(usage, 0)
  const fields: ReadonlyMap<string, JsonMember> = new Map(members.map((one) => [one.key, one]))
  if (!figure) return spliceJson(usage, fields, { remove: STATED })
  const { cost, basis } = figure
  if (basis === undefined)
    return spliceJson(usage, fields, { set: { cost }, remove: ['cost_basis'] })
  return spliceJson(usage, fields, { set: { cost, cost_basis: JSON.stringify(basis) } })
}

/** Returns true if an event has usage at the path. */
export function hasUsage(event: JsonObject, path: readonly string[]): boolean {
  let value: unknown = event
  for (const step of path) value = member(value, step)
  return isObject(value)
}
