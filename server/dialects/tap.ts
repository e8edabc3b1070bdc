/**
 * A relay for answers that are one JSON document: the bytes pass unchanged, and what the document
 * states about usage or errors is read once it is whole.
 */
import { tryParseJson } from '../lib/json.ts'
import type { Relay, RelayFailure, RelayReport } from './relay.ts'

/** The reading of a whole document. `unreadable` is for bytes that are not JSON. */
export type BodyReading = Omit<RelayReport, 'finished'>

/**
 * `read` gets the parsed document, or undefined when the bytes are not JSON. `fail` is not used:
 * a whole answer that breaks off is never delivered.
 */
export function createBodyTap(read: (document: unknown) => BodyReading): Relay {
  const chunks: Buffer[] = []
  let report: RelayReport = { outputBytes: 0, finished: false }
  return {
    push(chunk) {
      chunks.push(chunk)
      return undefined
    },
    end() {
      const body = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)
      report = { ...read(body && tryParseJson(body)), finished: true }
      return body
    },
    fail(_failure: RelayFailure) {
      return undefined
    },
    report: () => report,
  }
}
