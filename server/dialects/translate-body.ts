/**
 * A relay for answers that are one JSON document of another dialect: collected, then translated.
 */
import { isObject, type JsonObject, tryParseJson, writeJson } from '../lib/json.ts'
import type { Relay, RelayReport } from './relay.ts'
import { type ReportedError, UPSTREAM_ERROR } from './reported-error.ts'
import type { BodyReading } from './tap.ts'

export interface BodyTranslation {
  /** Reads the upstream's document; gets undefined for bytes that are not JSON. */
  read(document: unknown): BodyReading
  /** The answer in the caller's dialect. */
  translate(document: JsonObject, reading: BodyReading): JsonObject
  /** An error in place of an answer, in the caller's dialect. */
  toError(error: ReportedError): unknown
}

/** Outputs nothing before the end; a document that is cut off is never delivered. */
export function createBodyTranslator({ read, translate, toError }: BodyTranslation): Relay {
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
      const document = tryParseJson(Buffer.concat(chunks))
      const reading = read(document)
      report = { ...reading, finished: true }
      const isAnswer = isObject(document) && !reading.error
      const answer = isAnswer
        ? translate(document, reading)
        : toError(reading.error ?? UPSTREAM_ERROR)
      return Buffer.from(writeJson(answer))
    },
    fail: () => undefined,
    report: () => report,
    heldBytes: () => bytes,
  }
}
