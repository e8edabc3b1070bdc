/** Calls the functions that read, with values of the kinds that they take. */

import type { JsonObject } from '../../../server/base/lib/json.ts'
import { DEFAULT_CHAT_QUIRKS } from '../../../server/wire/dialects/chat/quirks.ts'
import { scanJson } from '../../../server/wire/dialects/json-scan.ts'
import { DEFAULT_MESSAGES_QUIRKS } from '../../../server/wire/dialects/messages/quirks.ts'
import { createMessagesTap } from '../../../server/wire/dialects/messages/tap.ts'
import { parseRequestJson } from '../../../server/wire/dialects/request-json/parse.ts'
import { SHAPES } from '../../../server/wire/upstreams/rerank/shapes.ts'
import { answerOptions as messageOptions } from '../../dialects/messages-over-chat/answer-options.ts'
import { answerOptions as responseOptions } from '../../dialects/responses-over-chat/answer-options.ts'
import type { Note } from './count-work.ts'
import type { Reader } from './find-readers.ts'
import { pumpBodies, pumpFrames, pumpValues } from './pump-values.ts'

/** Bytes of a chunk: events are cut at any place. */
const CHUNK_BYTES = 100

/** Functions whose arguments, or further ones, are not those of the others. */
const ARGUMENTS: Readonly<Record<string, (value: unknown) => readonly unknown[]>> = {
  createMessagesStream: () => [messageOptions()],
  createMessagesBody: () => [messageOptions()],
  createResponsesStream: () => [responseOptions()],
  createResponsesBody: () => [responseOptions()],
  createUnfolder: () => [(body: Buffer) => body.toString()],
  createBodyTap: () => [() => ({ outputBytes: 0 })],
  createWholeTap: () => [() => ({ reading: { outputBytes: 0 }, out: undefined })],
  createLargeBodyTap: () => [() => ({ outputBytes: 0 })],
  unframe: () => [createMessagesTap()],
  readBetas: (header) => [header, []],
  selectBetas: (stated) => [stated, []],
  editCloudBody: (body) => [body, { version: 'v', allowed: [], inPath: ['model'] }],
  readRanking: (value) => [value, { results: (list: unknown) => list, score: 'index' }, 2000],
  readRankingUsage: (value) => [value, {}, SHAPES.jina],
  toReading: (value) => [value, { results: [], usage: {} }],
  cutJson: (value) => [accept(value).body, [['messages'], ['tools', 3], ['input', 0, 'content']]],
  skipString: (value) => [value, (value as Buffer).indexOf('"')],
  scanInSteps: (value) => [value, undefined, CHUNK_BYTES],
  parseInSteps: (value) => [value],
  parsePieces: (value) => {
    const { body } = accept(value)
    return [body, scanJson(body)]
  },
  findInnerDuplicate: (value) => {
    const { body, value: document, fields } = accept(value)
    return [body, document, fields]
  },
  scanMembers: (value) => [accept(value).body, 0],
  spliceJson: (value) => [accept(value).body, accept(value).fields, { remove: ['messages'] }],
  prepareSpeechRequest: (value) => [accept(value).body, accept(value).fields, accept(value).value],
  translateMessageRequest: (value) => [value, { ...GIVEN, quirks: DEFAULT_CHAT_QUIRKS }],
  translateMessageParameters: (value) => [value, DEFAULT_CHAT_QUIRKS],
  translateResponseRequest: (value) => [value, { ...GIVEN, quirks: DEFAULT_CHAT_QUIRKS }],
  toChatRequest: (value) => [value, { ...GIVEN, quirks: DEFAULT_CHAT_QUIRKS }],
  translateResponseParameters: (value) => [value, DEFAULT_CHAT_QUIRKS],
  translateCompletionRequest: (value) => {
    return [{ ...(value as JsonObject), messages: undefined, input: undefined }, 'max_tokens']
  },
  translateToContents: (value) => [value, { ...GIVEN, ...CONTENTS }],
  translateChatMessages: (value) => [value],
  createContentsChat: () => [{ ...GIVEN, reading: { billsQueries: true, isGrounded: true } }],
  createContentsTap: () => [{ billsQueries: true, isList: true }],
  createContentsBodyTap: () => [{ billsQueries: true }],
  inCamelCase: (value) => [value, ''],
  listIgnored: (value) => [value, new Set()],
  findUntaken: (value) => [value, new Set(Object.keys(value as JsonObject)), []],
  createLargeObjectReader: () => [2],
  translateChatParameters: (value) => [value, DEFAULT_MESSAGES_QUIRKS],
  translateChatTools: (value) => [value, DEFAULT_MESSAGES_QUIRKS],
}

const parsed = new WeakMap<Buffer, ReturnType<typeof parseRequestJson>>()

/** Returns what must be the body of a request: some readers need what was accepted. */
function accept(value: unknown) {
  const body = value as Buffer
  const scan = parsed.get(body)
  if (!scan?.ok) throw new TypeError('no request')
  return { ...scan, body }
}

const nothing = () => undefined
/** What readers and relays are given: each takes of it what it knows. */
const GIVEN = {
  model: 'm',
  id: 'id',
  upstreamModel: 'm',
  stream: true,
  quirks: DEFAULT_MESSAGES_QUIRKS,
  request: {},
  usage: {},
  onFrame: (frame: Buffer) => frame,
  onEvent: nothing,
  onObject: nothing,
  onOverflow: nothing,
}

const CONTENTS = {
  generation: { number: 3, thinks: true, isPro: false },
  sellsSearch: true,
  hasIds: true,
  replacesSignatures: false,
}

interface Pushed {
  readonly push: (chunk: Buffer) => unknown
  readonly end?: () => unknown
}

type Groups = ReadonlyMap<string, readonly unknown[]>
/** Groups of inputs of each kind, by name. */
export type Inputs = Readonly<Record<Reader['takes'], Groups>>

/** Returns the inputs of each kind, made once for a size. */
export function createInputs(size: number): Inputs {
  const value = pumpValues(size)
  const alone = (bodies: ReadonlyMap<string, Buffer>): Groups =>
    new Map([...bodies].map(([name, body]) => [name, [body]]))
  const chunks = alone(pumpBodies(size))
  const text: Groups = new Map([...value].map(([name, group]) => [name, group.map(print)]))
  const bytes = new Map(chunks)
  for (const [name, group] of value) {
    bytes.set(
      name,
      group.map((one) => Buffer.from(print(one))),
    )
  }
  // Before anything is counted: to parse a body is the work of a reader of its own.
  for (const body of [...bytes.values()].flat() as Buffer[]) {
    parsed.set(body, parseRequestJson(body))
  }
  return { value, chunks, text, bytes, frames: alone(pumpFrames(size)) }
}

function print(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Reads all inputs. Returns how many were not refused: most are of other dialects. */
export function readAll(reader: Reader, inputs: Inputs, note: Note = nothing): number {
  let read = 0
  for (const [name, group] of inputs[reader.takes]) {
    for (const input of group) if (isRead(reader, input)) read += 1
    note(name)
  }
  return read
}

function isRead({ place, takes, run }: Reader, input: unknown): boolean {
  try {
    const given = ARGUMENTS[place.split(' ').at(-1) ?? '']?.(input)
    if (takes === 'chunks' || takes === 'frames')
      pushAll(run(...(given ?? [GIVEN])) as Pushed, input as Buffer)
    else runAll(run(...(given ?? [input, GIVEN, {}])))
    return true
  } catch {
    return false
  }
}

/** Readers in steps return those. */
function runAll(read: unknown): void {
  const steps = read as Partial<Generator> | undefined
  while (steps?.next?.().done === false);
}

function pushAll(relay: Pushed, body: Buffer): void {
  for (let at = 0; at < body.length; at += CHUNK_BYTES) {
    const read = relay.push(body.subarray(at, at + CHUNK_BYTES))
    // Decoders give one message after the other.
    if (typeof read === 'object') Array.from(read as Iterable<unknown>)
  }
  relay.end?.()
}
