/**
 * A relay for answers that are one JSON document: the bytes pass unchanged, and what the document
 * states about usage or errors is read once it is whole.
 */
import { type JsonObject, tryParseJson, writeJson } from '../../base/lib/json.ts'
import { shortenStrings } from '../../base/lib/text/shorten-json.ts'
import { OUTPUT_UNITS } from '../../base/lib/units.ts'
import type { Relay, RelayFailure, RelayReport } from './relay.ts'

/** The reading of a whole document. `unreadable` is for bytes that are not JSON. */
export type BodyReading = Omit<RelayReport, 'finished'>

/** A smaller document has no string that is long enough to leave it out. */
const LARGE_BYTES = 64 * 1024

/**
 * `read` gets the parsed document, or undefined when the bytes are not JSON. `repair` returns what
 * goes out in its place, or undefined. `fail` is not used: a whole answer that breaks off is never
 * delivered.
 */
export function createBodyTap(
  read: (document: unknown) => BodyReading,
  repair?: (document: unknown, reading: BodyReading) => JsonObject | undefined,
): Relay {
  return createWholeTap((body) => {
    const document = body && tryParseJson(body)
    const reading = read(document)
    const repaired = reading.error ? undefined : repair?.(document, reading)
    return { reading, out: repaired ? Buffer.from(writeJson(repaired)) : body }
  })
}

/**
 * Like `createBodyTap`, where `read` needs long strings only to estimate output that the vendor
 * does not state: a large document that states it is parsed without them.
 */
export function createLargeBodyTap(read: (document: unknown) => BodyReading): Relay {
  return createWholeTap((body) => {
    const short = body && body.length >= LARGE_BYTES ? shortenStrings(body) : undefined
    const reading = short && read(tryParseJson(short))
    if (reading && statesOutput(reading)) return { reading, out: body }
    return { reading: read(body && tryParseJson(body)), out: body }
  })
}

function statesOutput({ error, usage = {} }: BodyReading): boolean {
  return !error && OUTPUT_UNITS.some((unit) => usage[unit] !== undefined)
}

type Finish = (body: Buffer | undefined) => { reading: BodyReading; out: Buffer | undefined }

/** Creates a relay that reads an answer once it is whole; `finish` returns what the caller gets. */
export function createWholeTap(finish: Finish): Relay {
  const chunks: Buffer[] = []
  let bytes = 0
  let report: RelayReport = { outputBytes: 0, finished: false }
  return {
    push(chunk) {
      chunks.push(chunk)
      bytes += chunk.length
      return undefined
    },
    end() {
      const { reading, out } = finish(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))
      report = { ...reading, finished: true }
      return out
    },
    fail(_failure: RelayFailure) {
      return undefined
    },
    report: () => report,
    heldBytes: () => bytes,
  }
}
