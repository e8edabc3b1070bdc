/** Short ways to translate one request in a test. */
import { type ChatQuirks, DEFAULT_CHAT_QUIRKS } from '../../../server/wire/dialects/chat/quirks.ts'
import { InvalidRequest } from '../../../server/wire/dialects/invalid-request.ts'
import { translateMessageRequest } from '../../../server/wire/dialects/messages-over-chat/request.ts'

type Fields = Record<string, unknown>

/** The chat request as the upstream would parse it. */
export function translate(fields: Fields, quirks: Partial<ChatQuirks> = {}, stream = false) {
  const request = { model: 'm', max_tokens: 100, messages: [user('hi')], ...fields }
  const options = {
    upstreamModel: 'vendor-model',
    stream,
    quirks: { ...DEFAULT_CHAT_QUIRKS, ...quirks },
  }
  const { body, context, ignored } = translateMessageRequest(request, options)
  const text = body.toString('utf8')
  return { body: JSON.parse(text), text, context, ignored }
}

export function messagesOf(
  messages: unknown[],
  quirks: Partial<ChatQuirks> = {},
  system?: unknown,
) {
  return translate({ messages, ...(system === undefined ? {} : { system }) }, quirks).body.messages
}

/** The field that a refused request names. */
export function refusedField(fields: Fields, quirks: Partial<ChatQuirks> = {}): string {
  try {
    translate(fields, quirks)
  } catch (error) {
    if (error instanceof InvalidRequest) return error.param
    throw error
  }
  return 'nothing was refused'
}

export function user(content: unknown) {
  return { role: 'user', content }
}

export function assistant(...content: unknown[]) {
  return { role: 'assistant', content }
}

export function text(value: string) {
  return { type: 'text', text: value }
}

export function use(id: string, input: unknown = { q: 1 }, name = 'lookup') {
  return { type: 'tool_use', id, name, input }
}

export function result(id: string, content?: unknown) {
  return { type: 'tool_result', tool_use_id: id, ...(content === undefined ? {} : { content }) }
}

export function png(data = 'aW1n') {
  return { type: 'image', source: { type: 'base64', media_type: 'image/png', data } }
}

export function pdf(data = 'cGRm') {
  return { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } }
}

export const PNG_PART = { type: 'image_url', image_url: { url: 'data:image/png;base64,aW1n' } }

export function calls(...ids: string[]) {
  return ids.map((id) => ({
    id,
    type: 'function',
    function: { name: 'lookup', arguments: '{"q":1}' },
  }))
}
