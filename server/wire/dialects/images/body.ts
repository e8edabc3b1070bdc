/** Relays a whole answer with images; `created_at` becomes `created`, which every SDK reads. */
import { isObject, tryParseJson, writeJson } from '../../../base/lib/json.ts'
import type { Relay } from '../relay.ts'
import { createBodyTap } from '../tap.ts'
import { readImagesBody } from './read-answer.ts'

export function createImagesBody(): Relay {
  const tap = createBodyTap(readImagesBody)
  return {
    ...tap,
    end() {
      const body = tap.end()
      return body && nameTime(body)
    },
  }
}

/** Renames `created_at`, which some vendors send in place of the documented `created`. */
function nameTime(body: Buffer): Buffer {
  if (body.includes('"created"') || !body.includes('"created_at"')) return body
  const document = tryParseJson(body)
  if (!isObject(document)) return body
  const { created_at: created, ...rest } = document
  return Buffer.from(writeJson({ created, ...rest }))
}
