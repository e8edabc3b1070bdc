/** Turns a source of a chat answer into a citation of the messages format. */
import { asString, isObject, type JsonObject, member } from '../../lib/json.ts'

/**
 * Returns undefined for annotations of another type. The index, by which the messages format's own
 * vendor finds the passage again, stays empty: only that vendor can create it.
 */
export function toCitation(annotation: JsonObject): JsonObject | undefined {
  const { type, url_citation: citation } = annotation
  const url = asString(member(citation, 'url'))
  if (type !== 'url_citation' || !isObject(citation) || !url) return undefined
  return {
    type: 'web_search_result_location',
    url,
    title: asString(citation.title) ?? null,
    cited_text: asString(citation.content) ?? '',
    encrypted_index: '',
  }
}
