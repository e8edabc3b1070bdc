/**
 * Upstreams that answer in the other form, whatever the headers state: a document in place of the
 * events of a transcript, or events in place of a document.
 */
import { asString, isObject, member, tryParseJson } from '../../../base/lib/json.ts'
import { chainAfterReading } from '../chain.ts'
import { decideOnFirstByte } from '../chat/expect-body.ts'
import type { Relay } from '../relay.ts'
import { createSseParser } from '../sse.ts'
import { createBodyTap } from '../tap.ts'
import { createUnfolder } from '../unfold-document.ts'
import { createTranscriptTap, readTranscription, TEXT_DELTA, TEXT_DONE } from './read-usage.ts'

/** Creates a relay for a caller who requested events. */
export function createTranscriptStream(): Relay {
  const tap = createTranscriptTap()
  const whole = createBodyTap(readTranscription)
  return decideOnFirstByte(tap, (isJson) => {
    return isJson ? chainAfterReading(whole, createUnfolder(writeEvents)) : tap
  })
}

/** Creates a relay for a caller who requested `json` or `verbose_json`. */
export function createTranscriptBody(): Relay {
  const whole = createBodyTap(readTranscription)
  return decideOnFirstByte(whole, (isJson) => {
    return isJson ? whole : chainAfterReading(createTranscriptTap(), createCollector())
  })
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

/** Collects events into one document. */
function createCollector(): Relay {
  const deltas: string[] = []
  let whole: string | undefined
  let usage: unknown
  let bytes = 0
  const parser = createSseParser({
    onEvent: ({ data }) => {
      const event = tryParseJson(Buffer.from(data))
      deltas.push(asString(member(event, 'delta')) ?? '')
      whole = asString(member(event, 'text')) ?? whole
      usage = member(event, 'usage') ?? usage
    },
  })
  return {
    push(chunk) {
      bytes += chunk.length
      parser.push(chunk)
      return undefined
    },
    end() {
      parser.end()
      const text = whole ?? deltas.join('')
      return Buffer.from(JSON.stringify({ text, ...(isObject(usage) ? { usage } : {}) }))
    },
    fail: () => undefined,
    report: () => ({ outputBytes: 0, finished: true }),
    heldBytes: () => bytes,
  }
}
