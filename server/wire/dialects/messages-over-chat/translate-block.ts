/**
 * Translates a content block of the messages format to a part of a chat message. Unsupported
 * content is replaced by a sentence that says so: silently dropping it would make the model guess,
 * and refusing would block a session whose history contains it.
 */
import { asString, isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import type { ChatQuirks } from '../chat/quirks.ts'
import { InvalidRequest } from '../invalid-request.ts'
import { type ChatPart, isTextPart, textPart } from './chat-request.ts'
import { describeVendorResult } from './describe-vendor-result.ts'

/** Translates a string or blocks to parts. Drops empty texts: several vendors refuse them. */
export function translateBlocks(content: unknown, param: string, quirks: ChatQuirks): ChatPart[] {
  if (content === undefined || content === null || content === '') return []
  if (typeof content === 'string') return [textPart(content)]
  if (!Array.isArray(content)) throw new InvalidRequest(param, 'must be a string or an array')
  const parts: ChatPart[] = []
  for (const [position, block] of content.entries()) {
    const at = `${param}[${position}]`
    for (const part of translateBlock(readBlock(block, at), at, quirks)) {
      if (!isTextPart(part) || part.text !== '') parts.push(part)
    }
  }
  return parts
}

export function readBlock(block: unknown, param: string): JsonObject & { readonly type: string } {
  if (!isObject(block)) throw new InvalidRequest(param, 'must be an object')
  const { type } = block
  if (typeof type !== 'string') throw new InvalidRequest(`${param}.type`, 'is required')
  return { ...block, type }
}

export function translateBlock(
  block: JsonObject & { readonly type: string },
  param: string,
  quirks: ChatQuirks,
): readonly ChatPart[] {
  switch (block.type) {
    case 'text':
      return [textPart(asString(block.text) ?? '')]
    case 'image':
      return [translateImage(block, param, quirks)]
    case 'document':
      return translateDocument(block, param, quirks)
    case 'search_result':
      return [textPart(describeSearchResult(block))]
    case 'tool_reference':
      return [textPart(`The tool ${asString(block.tool_name) ?? ''} is available.`)]
    case 'thinking':
    case 'redacted_thinking':
    case 'server_tool_use':
    case 'mcp_tool_use':
    case 'tool_search_tool_result':
      return []
    default: {
      const result = describeVendorResult(block)
      if (result !== undefined) return [textPart(result)]
      return [omitted(`a content block of type ${block.type.slice(0, 64)}`)]
    }
  }
}

function translateImage(block: JsonObject, param: string, quirks: ChatQuirks): ChatPart {
  const { source } = block
  refuseFileId(source, param)
  const url = asString(member(source, 'url')) ?? readDataUrl(source)
  if (url === undefined) return omitted('an image that is not in the request')
  return quirks.image_parts ? { type: 'image_url', image_url: { url } } : omitted('an image')
}

/** `data:<media type>;base64,<data>` of a base64 source, else undefined. */
function readDataUrl(source: unknown): string | undefined {
  const data = asString(member(source, 'data'))
  const media = asString(member(source, 'media_type'))
  if (member(source, 'type') !== 'base64' || data === undefined) return undefined
  return `data:${media ?? 'application/octet-stream'};base64,${data}`
}

function translateDocument(
  block: JsonObject,
  param: string,
  quirks: ChatQuirks,
): readonly ChatPart[] {
  const { source } = block
  const title = asString(block.title)
  const heading = [title, asString(block.context)]
    .filter(Boolean)
    .map((text) => textPart(`${text}`))
  switch (member(source, 'type')) {
    case 'text':
      return [...heading, textPart(asString(member(source, 'data')) ?? '')]
    case 'content':
      return [...heading, ...translateBlocks(member(source, 'content'), param, quirks)]
    case 'url': {
      const url = asString(member(source, 'url')) ?? ''
      if (!quirks.beforeMessages) return [textPart(`[document at ${url}]`)]
      return [...heading, { type: 'file', file: { filename: title ?? url, file_data: url } }]
    }
    default:
      refuseFileId(source, param)
      return [translateFile(source, title ?? 'document.pdf', quirks)]
  }
}

/** Throws for a file that the request names only by its id, which is another vendor's. */
function refuseFileId(source: unknown, param: string): void {
  if (member(source, 'type') !== 'file') return
  throw new InvalidRequest(`${param}.source.file_id`, 'is unknown to this model: send the data')
}

function translateFile(source: unknown, filename: string, quirks: ChatQuirks): ChatPart {
  const data = readDataUrl(source)
  if (data === undefined || !quirks.file_parts) return omitted(`the document ${filename}`)
  return { type: 'file', file: { filename, file_data: data } }
}

function describeSearchResult(block: JsonObject): string {
  const { content } = block
  const texts = Array.isArray(content) ? content.map((part) => asString(member(part, 'text'))) : []
  return [asString(block.title), asString(block.source), ...texts].filter(Boolean).join('\n')
}

function omitted(label: string): ChatPart {
  return textPart(`[${label} was left out: this model cannot take it]`)
}
