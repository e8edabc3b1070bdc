/** Reads answers of any form by JSON pointers, which find own members alone. */
import { asString, isObject, type JsonObject, tryParseJson } from '../../../base/lib/json.ts'
import { readResultUrl } from '../../../base/lib/result-url.ts'
import { refineRejection } from '../account-refusal.ts'
import { classifyStatus, readErrorBody, readRetryAfter, UpstreamFailure } from '../failure.ts'
import type { WireResponse } from '../wire.ts'

/** Returns the value at a pointer; undefined without one. */
export function at(document: unknown, pointer: string): unknown {
  let value = document
  for (const part of pointer.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as JsonObject)[name]
  }
  return value
}

/** Returns the first value that exists. */
export function atFirst(document: unknown, pointers: readonly string[]): unknown {
  for (const pointer of pointers) {
    const value = at(document, pointer)
    if (value !== undefined && value !== null) return value
  }
  return undefined
}

const LOOKS_MAX = 1_000

/** Returns the address at the first pointer that has one: a text, or the nearest inside. */
export function findUrl(document: unknown, pointers: readonly string[]): string | undefined {
  for (const pointer of pointers) {
    const pending = [at(document, pointer)]
    for (let looks = 0; looks < pending.length && looks < LOOKS_MAX; looks += 1) {
      const value = pending[looks]
      const url = readResultUrl(value)
      if (url !== undefined) return url
      if (typeof value !== 'object' || value === null) continue
      // A vendor's list may have more entries than a call takes arguments.
      for (const one of Object.values(value).slice(0, LOOKS_MAX)) pending.push(one)
    }
  }
  return undefined
}

/**
 * Returns the reason as text, whatever its form: a string, a list of strings, or an object with
 * one.
 */
export function readWords(value: unknown): string | undefined {
  const first: unknown = Array.isArray(value) ? value[0] : value
  if (!isObject(first)) return asString(first) || undefined
  return ['message', 'msg', 'detail', 'title', 'error']
    .map((name) => asString(first[name]))
    .find(Boolean)
}

const WORDS = ['/error/message', '/error', '/detail', '/message', '/title', '']

/** Throws for an answer with an error status. `request` is what the vendor may repeat. */
export async function refuseStatus(response: WireResponse, request?: unknown): Promise<void> {
  const { status, headers } = response
  if (status < 400) return
  const document = tryParseJson(await readErrorBody(response))
  const message = WORDS.map((pointer) => readWords(at(document, pointer))).find(Boolean)
  throw new UpstreamFailure(refineRejection(classifyStatus(status), message, request), {
    status,
    message,
    isStated: message !== undefined,
    retryAfterSeconds: readRetryAfter(headers),
  })
}
