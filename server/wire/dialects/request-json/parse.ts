/**
 * Scans and parses the body of a request. A body with an escaped key never goes through
 * `JSON.parse`: the engine mistakes the key for one of an earlier object if its first characters,
 * as written, equal that key. A body could thus hide `max_tok\u0065ns` behind `max_tok\\u0` of
 * another body.
 */

import { parseLargeJson } from '../../../base/lib/json/large-json.ts'
import type { JsonObject } from '../../../base/lib/json.ts'
import { type JsonRefusal, refuseJson } from '../json-refusal.ts'
import { type JsonFields, type JsonLimits, runSteps, scanInSteps } from '../json-scan.ts'
import { findInnerDuplicate } from './find-duplicate.ts'
import { parsePieces } from './parse-pieces.ts'

export type ParsedRequest =
  | { readonly ok: true; readonly value: JsonObject; readonly fields: JsonFields }
  | JsonRefusal

/** The text of a longer body is never in memory as a whole. */
const PIECED_BYTES = 16 * 1024
/** A longer body is parsed in steps, and its long strings keep megabytes of it in memory. */
export const STEPPED_BYTES = 1024 * 1024

/**
 * Scans and parses a request body that must be one JSON object. Numbers have JavaScript's
 * precision; their original spelling is in the bytes. `__proto__` and `constructor` are ordinary
 * own members of the value: reading known names and serialising are safe, but it must not be copied
 * with Object.assign, and names chosen by a caller need Object.hasOwn.
 */
export function parseRequestJson(bytes: Buffer, limits?: JsonLimits): ParsedRequest {
  return runSteps(parseInSteps(bytes, limits))
}

/** Parses as `parseRequestJson` does. Other work may be done wherever it yields. */
export function* parseInSteps(bytes: Buffer, limits?: JsonLimits): Generator<void, ParsedRequest> {
  const scan = yield* scanInSteps(bytes, limits)
  if (!scan.ok) return scan
  let value: JsonObject
  try {
    const isStepped = bytes.length > STEPPED_BYTES || scan.hasEscapedKeys
    if (isStepped) value = (yield* parseLargeJson(bytes)) as JsonObject
    else if (bytes.length > PIECED_BYTES) value = parsePieces(bytes, scan)
    // The scan has found an object.
    else value = JSON.parse(bytes.toString('utf8')) as JsonObject
  } catch {
    return refuseJson('syntax')
  }
  if (bytes.length > STEPPED_BYTES) yield
  const double = findInnerDuplicate(bytes, value, scan.fields)
  if (double) return refuseJson('duplicate_key', double.valueStart, double.key)
  if (bytes.length > STEPPED_BYTES) yield
  return { ok: true, value, fields: scan.fields }
}
