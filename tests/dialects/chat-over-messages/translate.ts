/** Short ways to translate one chat request in a test. */
import { translateChatRequest } from '../../../server/wire/dialects/chat-over-messages/request.ts'
import { InvalidRequest } from '../../../server/wire/dialects/invalid-request.ts'
import {
  DEFAULT_MESSAGES_QUIRKS,
  type MessagesQuirks,
} from '../../../server/wire/dialects/messages/quirks.ts'

function translateAll(fields: object, quirks: Partial<MessagesQuirks> = {}, stream = false) {
  const request = { model: 'm', messages: [user('hi')], ...fields }
  const options = {
    upstreamModel: 'vendor-model',
    stream,
    quirks: { ...DEFAULT_MESSAGES_QUIRKS, ...quirks },
  }
  return translateChatRequest(request, options)
}

export function translate(...given: Parameters<typeof translateAll>) {
  return JSON.parse(translateAll(...given).body.toString('utf8'))
}

export const ignoredOf = (...given: Parameters<typeof translateAll>) =>
  translateAll(...given).ignored

export const turnsOf = (...messages: unknown[]) => translate({ messages }).messages
export const user = (content: unknown) => ({ role: 'user', content })
export const text = (value: string) => ({ type: 'text', text: value })
export const call = (id: string, args: unknown = '{"q":1}') => ({
  id,
  type: 'function',
  function: { name: 'lookup', arguments: args },
})
export const calling = (...calls: unknown[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: calls,
})
export const tool = (id: string, content: unknown) => ({ role: 'tool', tool_call_id: id, content })
export const use = (id: string, input: unknown = { q: 1 }) => ({
  type: 'tool_use',
  id,
  name: 'lookup',
  input,
})
export const result = (id: string, content: unknown) => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
})

export function refusedField(fields: object): string {
  try {
    translate(fields)
  } catch (error) {
    if (error instanceof InvalidRequest) return error.param
    throw error
  }
  return 'nothing was refused'
}
