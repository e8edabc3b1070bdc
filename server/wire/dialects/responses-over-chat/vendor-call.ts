/**
 * Reads calls of an earlier turn that a vendor ran itself: another model sees them as calls of
 * functions with their results.
 */

import type { ReadInner } from '../../../base/lib/inner-json.ts'
import { asString, isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import { stringifyWellFormed } from '../../../base/lib/text/well-formed.ts'

export interface VendorCall {
  readonly name: string
  readonly input: unknown
  /** A text or parts; undefined if the item states none: then the call is left out. */
  readonly result: string | readonly JsonObject[] | undefined
  readonly isFailed: boolean
}

/** Returns undefined for an item of another type. */
export function readVendorCall(item: JsonObject, readInner: ReadInner): VendorCall | undefined {
  switch (item.type) {
    case 'mcp_call':
      return readMcp(item, readInner)
    case 'code_interpreter_call':
      return succeed('code_interpreter', { code: item.code }, readLogs(item.outputs))
    case 'file_search_call':
      return succeed('file_search', { queries: item.queries }, readPassages(item.results))
    case 'image_generation_call':
      return succeed('image_generation', {}, readImage(item.result))
    case 'web_search_call':
    case 'tool_search_call':
    case 'mcp_list_tools':
    case 'mcp_approval_request':
      return succeed('', {}, undefined)
    default:
      return undefined
  }
}

function succeed(name: string, input: unknown, result: VendorCall['result']): VendorCall {
  return { name, input, result, isFailed: false }
}

function readMcp(item: JsonObject, readInner: ReadInner): VendorCall {
  const { name, arguments: text, output, error } = item
  const input = readInner(asString(text) ?? '')
  const isFailed = error !== undefined && error !== null
  const failure = asString(error) ?? (isFailed ? stringifyWellFormed(error) : undefined)
  return {
    name: asString(name) || 'mcp',
    input: isObject(input) ? input : {},
    result: isFailed ? failure : asString(output),
    isFailed,
  }
}

function readLogs(outputs: unknown): string | undefined {
  if (!Array.isArray(outputs)) return undefined
  return outputs.map((output) => asString(member(output, 'logs')) ?? '').join('\n')
}

function readPassages(results: unknown): string | undefined {
  if (!Array.isArray(results)) return undefined
  return results
    .map(
      (one) => `${asString(member(one, 'filename')) ?? ''}\n${asString(member(one, 'text')) ?? ''}`,
    )
    .join('\n\n')
}

/** The image as a data URL; its first bytes tell its type. */
function readImage(data: unknown): readonly JsonObject[] | undefined {
  const text = asString(data)
  if (!text) return undefined
  const media = text.startsWith('/9j/') ? 'jpeg' : text.startsWith('UklGR') ? 'webp' : 'png'
  return [{ type: 'input_image', image_url: `data:image/${media};base64,${text}` }]
}
