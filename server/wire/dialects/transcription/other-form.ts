/**
 * Upstreams that answer in the other form, whatever the headers state: a document in place of the
 * events of a transcript, or events in place of a document.
 */
import { asString, isObject, member, tryParseJson } from '../../../base/lib/json.ts'
import { beginsEvents } from '../begins-document.ts'
import { chainAfterReading } from '../chain.ts'
import { decideOnFirstByte } from '../chat/expect-body.ts'
import { awaitEvents } from '../parts/await-events.ts'
import type { Relay, RelayReport } from '../relay.ts'
import { createBodyTap, createWholeTap } from '../tap.ts'
import { createUnfolder } from '../unfold-document.ts'
import {
  createPlainTap,
  createTranscriptTap,
  printTranscriptFailure,
  readTranscription,
  TEXT_DELTA,
  TEXT_DONE,
} from './read-usage.ts'

/** Creates a relay for a caller who requested events. */
export function createTranscriptStream(): Relay {
  const tap = awaitEvents(createTranscriptTap(), printTranscriptFailure)
  const whole = createBodyTap(readTranscription)
  return decideOnFirstByte(tap, (isJson) => {
    return isJson ? chainAfterReading(whole, createUnfolder(writeEvents)) : tap
  })
}

/** Creates a relay for a caller who requested `json` or `verbose_json`. */
export function createTranscriptBody(): Relay {
  return expectEvents(createBodyTap(readTranscription), ({ text, usage }) => {
    return Buffer.from(JSON.stringify({ text, ...(isObject(usage) ? { usage } : {}) }))
  })
}

/** Creates a relay for `text`, `srt` and `vtt` that are called events: events pass unchanged. */
export function createPlainEvents(): Relay {
  return expectEvents(createPlainTap(true), (_transcript, body) => body)
}

/**
 * Wraps a relay that reads a whole answer: events are read as such, and `write` returns what the
 * caller gets of them. Their first bytes may come in pieces, so the whole answer decides.
 */
function expectEvents(
  relay: Relay,
  write: (transcript: Transcript, body: Buffer) => Buffer,
): Relay {
  return createWholeTap((body = EMPTY) => {
    if (beginsEvents(body)) {
      const { report, transcript } = readEvents(body)
      return { reading: report, out: transcript && write(transcript, body) }
    }
    relay.push(body)
    const out = relay.end()
    return { reading: relay.report(), out }
  })
}

const EMPTY = Buffer.alloc(0)

interface Transcript {
  readonly text: string
  readonly usage: unknown
}

/**
 * Reads the events of a whole answer: the transcript, or the vendor's error without output. Throws
 * for an answer that ends before either of them.
 */
function readEvents(body: Buffer): { report: RelayReport; transcript?: Transcript } {
  const deltas: string[] = []
  let whole: string | undefined
  let usage: unknown
  let isDone = false
  const tap = createTranscriptTap((event, name) => {
    deltas.push(asString(member(event, 'delta')) ?? '')
    whole = asString(member(event, 'text')) ?? whole
    usage = member(event, 'usage') ?? usage
    // Of a last event that is cut off, the name may be there.
    isDone ||= isObject(event) && (event.type ?? name) === TEXT_DONE
  })
  tap.push(body)
  tap.end()
  const { error, ...report } = tap.report()
  if (isDone) return { report, transcript: { text: whole ?? deltas.join(''), usage } }
  if (error) return { report: { ...report, outputBytes: 0, finished: true, error } }
  throw new Error('the events of the transcript are cut off')
}

/** Writes the events of a document; none for an error, which its reading reports. */
function writeEvents(body: Buffer): string {
  const document = tryParseJson(body)
  const text = asString(member(document, 'text'))
  if (text === undefined) return ''
  const usage = member(document, 'usage')
  const done = { type: TEXT_DONE, text, ...(isObject(usage) ? { usage } : {}) }
  return [...(text === '' ? [] : [{ type: TEXT_DELTA, delta: text }]), done]
    .map((event) => `data: ${JSON.stringify(event)}\n\n`)
    .join('')
}
