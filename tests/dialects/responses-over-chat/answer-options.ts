/** What a gateway would say of a request whose answer is translated. */
import type { ResponseAnswerOptions } from '../../../server/wire/dialects/responses-over-chat/answer.ts'
import { translate } from './translate.ts'

const NOTHING = { type: 'object', properties: {} }

/** One tool of each kind that a function can stand for. */
const TOOLS = [
  { type: 'function', name: 'look', parameters: NOTHING },
  { type: 'custom', name: 'apply_patch' },
  { type: 'tool_search', execution: 'client', parameters: NOTHING },
  { type: 'namespace', name: 'agents', tools: [{ type: 'function', name: 'close' }] },
]

export function answerOptions(request: object = {}): ResponseAnswerOptions {
  return {
    id: 'resp_abc',
    createdAtSeconds: 1780732857,
    model: 'caller-model',
    inputTokensEstimate: 77,
    context: translate({ input: 'hi', tools: TOOLS, ...request }).context,
  }
}
