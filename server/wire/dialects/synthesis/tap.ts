/**
 * Watches an answer of POST /v1/audio/speech. The bytes of a file state no usage, and end with the
 * body; events state usage and end.
 */
import { asString, isObject, member, tryParseJson } from '../../../base/lib/json.ts'
import type { Quantities } from '../../../base/lib/units.ts'
import { beginsDocument } from '../begins-document.ts'
import { awaitEvents } from '../parts/await-events.ts'
import type { Relay, RelayFailure, RelayReport } from '../relay.ts'
import { beginsLikePage, type ReportedError, UPSTREAM_ERROR } from '../reported-error.ts'
import { createSseParser, type SseEvent } from '../sse.ts'
import { readCount } from '../usage/read-count.ts'
import { readStatedCost } from '../usage/stated-cost.ts'
import { isEmpty, largerOfEach } from '../usage/usage-reading.ts'
import type { AudioFormat } from './formats.ts'
import { createSpeechMeter } from './measure-speech.ts'

/**
 * Creates a relay for the bytes of a file, which has no error form: a broken answer is cut off. A
 * page, a document, text that is typed as text and an answer without bytes are errors: no sound was
 * made.
 */
export function createAudioTap(format: AudioFormat, isCalledText = false): Relay {
  const meter = createSpeechMeter(format)
  let outputBytes = 0
  let finished = false
  let error: ReportedError | undefined
  /** The start of what may be a document, whose rest has not come. */
  let held: Buffer[] = []
  let heldBytes = 0
  let judgedBytes = 0
  const pass = (sound: Buffer): Buffer => {
    held = []
    heldBytes = 0
    outputBytes += sound.length
    meter.push(sound)
    return sound
  }
  const judge = (start: Buffer): void => {
    error = findRefusal(start, isCalledText)
    held = [start]
    judgedBytes = heldBytes
  }
  return {
    push(chunk) {
      if (outputBytes > 0) return pass(chunk)
      if (error) return undefined
      held.push(chunk)
      heldBytes += chunk.length
      // Judged again once it has doubled, so that many small pieces cost no more than a large one.
      if (heldBytes < 2 * judgedBytes) return undefined
      const start = Buffer.concat(held)
      judge(start)
      return error || mayBecomeDocument(start) ? undefined : pass(start)
    },
    end() {
      const start = Buffer.concat(held)
      if (!error && judgedBytes < heldBytes) judge(start)
      const rest = error || heldBytes === 0 ? undefined : pass(start)
      finished = outputBytes > 0
      if (!finished) error ??= UPSTREAM_ERROR
      return rest
    },
    fail: () => undefined,
    report() {
      const audioSeconds = meter.seconds()
      return { outputBytes, finished, audioSeconds, ...(error ? { error } : {}) }
    },
    heldBytes: () => heldBytes,
  }
}

/** Returns the error in place of sound, by the first bytes of an answer. */
function findRefusal(start: Buffer, isCalledText: boolean): ReportedError | undefined {
  if (beginsLikePage(start) || (isCalledText && isText(start))) return UPSTREAM_ERROR
  const document = beginsDocument(start) ? tryParseJson(start) : undefined
  if (!isObject(document)) return undefined
  const message = asString(member(document.error, 'message')) ?? asString(document.error)
  return { ...UPSTREAM_ERROR, message: message ?? UPSTREAM_ERROR.message }
}

/** Errors are shorter. */
const DOCUMENT_BYTES_MAX = 4 * 1024

/** Returns true for the start of a document without its end: samples are hardly ever text. */
function mayBecomeDocument(start: Buffer): boolean {
  return start.length <= DOCUMENT_BYTES_MAX && beginsDocument(start) !== false && isText(start)
}

const CONTROLS = /\p{Cc}/u
/** The first bytes of files of sound that are letters. */
const SOUND = /^(?:RIFF|OggS|fLaC|ID3)/

/** A character that is cut off at the end is one. */
function isText(start: Buffer): boolean {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(start, { stream: true })
  } catch {
    return false
  }
  return !SOUND.test(text) && !CONTROLS.test(text.replace(/[\t\r\n]/g, ''))
}

/** Creates a relay for `speech.audio.delta` and, with the usage, `speech.audio.done`. */
export function createAudioEventTap(): Relay {
  return awaitEvents(createEventTap(), printAudioFailure)
}

function createEventTap(): Relay {
  const state: { report: RelayReport } = { report: { outputBytes: 0, finished: false } }
  const parser = createSseParser({
    onEvent: (event) => {
      state.report = readEvent(state.report, event)
    },
  })
  return {
    push(chunk) {
      parser.push(chunk)
      return chunk
    },
    end() {
      parser.end()
      return undefined
    },
    fail: printAudioFailure,
    report: () => state.report,
    heldBytes: parser.heldBytes,
  }
}

/** Writes the error event of a stream that broke off. */
export function printAudioFailure({ type, message }: RelayFailure): Buffer {
  const error = { type, message, code: null, param: null }
  return Buffer.from(`event: error\ndata: ${JSON.stringify({ type: 'error', error })}\n\n`)
}

/** Some vendors name an event beside its data. Any event may state usage, even after the end. */
function readEvent(report: RelayReport, { event: name, data }: SseEvent): RelayReport {
  const outputBytes = report.outputBytes + data.length
  // Deltas are long and state nothing else: they are not parsed.
  const isDelta = data.includes('"speech.audio.delta"') && !data.includes('"usage"')
  if (isDelta) return { ...report, outputBytes }
  const document = tryParseJson(Buffer.from(data))
  const usage = largerOfEach(report.usage ?? {}, readUsage(member(document, 'usage')))
  const statedCost = readStatedCost(member(document, 'usage'))
  const stated = {
    ...report,
    ...(isEmpty(usage) ? {} : { usage }),
    ...(statedCost ? { statedCost } : {}),
  }
  const error = member(document, 'error')
  if (isObject(error)) {
    const message = asString(member(error, 'message')) ?? 'upstream provider error'
    return { ...stated, error: { type: 'server_error', message } }
  }
  const finished = report.finished || (member(document, 'type') ?? name) === 'speech.audio.done'
  return { ...stated, outputBytes, finished }
}

function readUsage(usage: unknown): Quantities {
  const input = readCount(member(usage, 'input_tokens'))
  const output = readCount(member(usage, 'output_tokens'))
  return {
    ...(input === undefined ? {} : { input_token: input }),
    ...(output === undefined ? {} : { audio_output_token: output }),
  }
}
