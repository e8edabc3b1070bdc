/**
 * A relay for answers that are one JSON document: the bytes pass unchanged, and what the document
 * states about usage or errors is read once it is whole.
 */
import { type JsonObject, tryParseJson, writeJson } from '../lib/json.ts'
import type { Relay, RelayFailure, RelayReport } from './relay.ts'

/** The reading of a whole document. `unreadable` is for bytes that are not JSON. */
export type BodyReading = Omit<RelayReport, 'finished'>

/**
 * `read` gets the parsed document, or undefined when the bytes are not JSON. `repair` returns what
 * goes out in its place, or undefined. `fail` is not used: a whole answer that breaks off is never
 * delivered.
 */
export function createBodyTap(
  read: (document: unknown) => BodyReading,
  repair?: (document: unknown, reading: BodyReading) => JsonObject | undefined,
): Relay {
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
      const body = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)
      const document = body && tryParseJson(body)
      const reading = read(document)
      report = { ...reading, finished: true }
      const repaired = reading.error ? undefined : repair?.(document, reading)
      return repaired ? Buffer.from(writeJson(repaired)) : body
    },
    fail(_failure: RelayFailure) {
      return undefined
    },
    report: () => report,
    heldBytes: () => bytes,
  }
}
