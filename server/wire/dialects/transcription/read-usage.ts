/** Reads the usage of answers of POST /v1/audio/transcriptions (docs/protocols/openai.md#audio). */
import { asString, isObject, member, tryParseJson } from '../../../base/lib/json.ts'
import { readChatUsage } from '../chat/read-usage.ts'
import type { Relay, RelayFailure, RelayReport } from '../relay.ts'
import { beginsLikePage } from '../reported-error.ts'
import { createSseParser } from '../sse.ts'
import { type BodyReading, createBodyTap } from '../tap.ts'
import { readCount, readDecimal } from '../usage/read-count.ts'
import { largerOfEach, type UsageReading } from '../usage/usage-reading.ts'

/** Reads an answer in `json` or `verbose_json`. */
export function readTranscription(document: unknown): BodyReading {
  const text = member(document, 'text')
  if (typeof text !== 'string') return { outputBytes: 0, error: readError(document) }
  return { ...readUsage(document), outputBytes: Buffer.byteLength(text) }
}

/** Reads tokens or seconds, else the duration of `verbose_json`. */
function readUsage(document: unknown): UsageReading {
  const usage = member(document, 'usage')
  if (!isObject(usage)) return statesSeconds(member(document, 'duration'))
  const stated = readChatUsage(document)
  if (usage.type === 'duration') return withSeconds(stated, usage.seconds)
  const audio = withSeconds(stated, usage.prompt_audio_seconds)
  const reading = audio.usage ? audio : toAudioTokens(stated)
  // Not every vendor names the type of its usage, and some state both.
  const { usage: seconds } = statesSeconds(usage.seconds)
  return seconds ? { ...reading, usage: { ...reading.usage, ...seconds } } : reading
}

/** Seconds take the place of tokens; a stated cost stays. */
function withSeconds({ statedCost }: UsageReading, seconds: unknown): UsageReading {
  return { ...statesSeconds(seconds), ...(statedCost ? { statedCost } : {}) }
}

function statesSeconds(value: unknown): Pick<UsageReading, 'usage'> {
  const second = readSeconds(value)
  return second === undefined ? {} : { usage: { second } }
}

/** Counts input without details as audio. */
function toAudioTokens(reading: UsageReading): UsageReading {
  const { input_token: input, audio_input_token: audio, ...rest } = reading.usage ?? {}
  if (input === undefined || audio !== undefined) return reading
  return { ...reading, usage: { ...rest, audio_input_token: input } }
}

/** Rounds seconds up; anything but a number from 0 on, or its text, is not stated. */
function readSeconds(value: unknown): number | undefined {
  const seconds = readDecimal(value)
  return seconds === undefined ? undefined : readCount(Math.ceil(seconds))
}

function readError(document: unknown) {
  const message = asString(member(member(document, 'error'), 'message'))
  return { type: 'server_error', message: message ?? 'upstream provider error' }
}

const HEAD_BYTES = 200

/**
 * Creates a relay for `text`, `srt` and `vtt`: any text is an answer, except a document without a
 * text, and text that begins like HTML and is not typed as plain text.
 */
export function createPlainTap(isCalledOther = false): Relay {
  const tap = createBodyTap((document) => {
    const isPage = isCalledOther && beginsLikePage(head)
    if (!isPage && !isNoText(document)) return { outputBytes }
    return { outputBytes: 0, error: readError(document) }
  })
  let outputBytes = 0
  let head = Buffer.alloc(0)
  return {
    ...tap,
    push(chunk) {
      if (isCalledOther && head.length < HEAD_BYTES) {
        head = Buffer.concat([head, chunk.subarray(0, HEAD_BYTES)])
      }
      outputBytes += chunk.length
      return tap.push(chunk)
    },
  }
}

/** Nobody speaks JSON: some vendors answer with a document, whichever form is requested. */
function isNoText(document: unknown): boolean {
  return isObject(document) && typeof document.text !== 'string'
}

/** The types of the events with a part of the text, and with all of it and the usage. */
export const TEXT_DELTA = 'transcript.text.delta'
export const TEXT_DONE = 'transcript.text.done'

/** Creates a relay for these events. `onEvent` gets each of them, parsed. */
export function createTranscriptTap(
  onEvent: (event: unknown, name: string) => void = () => undefined,
): Relay {
  let report: RelayReport = { outputBytes: 0, finished: false }
  const parser = createSseParser({
    onEvent: ({ event: name, data }) => {
      // A failure to parse takes longer than an event, and bodies may be full of other data.
      const isObjectText = data.trimStart().startsWith('{') && data.trimEnd().endsWith('}')
      const event = isObjectText ? tryParseJson(Buffer.from(data)) : undefined
      report = readEvent(report, name, event)
      onEvent(event, name)
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
    fail: printTranscriptFailure,
    report: () => report,
    heldBytes: parser.heldBytes,
  }
}

/** Writes the error event of a stream that broke off. */
export function printTranscriptFailure({ type, message }: RelayFailure): Buffer {
  const error = { type, message, code: null, param: null }
  return Buffer.from(`event: error\ndata: ${JSON.stringify({ type: 'error', error })}\n\n`)
}

/** Some vendors name an event beside its data. Any event may state usage, even after the end. */
function readEvent(report: RelayReport, name: string, event: unknown): RelayReport {
  const delta = asString(member(event, 'delta')) ?? ''
  const outputBytes = report.outputBytes + Buffer.byteLength(delta)
  const type = member(event, 'type') ?? name
  if (isObject(member(event, 'error'))) {
    return { ...keepLarger(report, event), error: readError(event) }
  }
  if (type === 'error') return { ...keepLarger(report, event), error: readError({ error: event }) }
  const finished = report.finished || type === TEXT_DONE
  const isStated = finished || isObject(member(event, 'usage'))
  return { ...(isStated ? keepLarger(report, event) : report), outputBytes, finished }
}

/** Work that was done is not undone, so a smaller count that comes later is ignored. */
function keepLarger(report: RelayReport, event: unknown): RelayReport {
  const reading = readUsage(event)
  if (!reading.usage) return { ...report, ...reading }
  return { ...report, ...reading, usage: largerOfEach(report.usage ?? {}, reading.usage) }
}
