/** The options of an answer's translation, with what a test does not care about filled in. */
import type { MessageAnswerOptions } from '../../../server/wire/dialects/messages-over-chat/answer.ts'
import { createToolNames } from '../../../server/wire/dialects/messages-over-chat/tool-names.ts'

export function answerOptions(
  context: Partial<MessageAnswerOptions['context']> = {},
): MessageAnswerOptions {
  return {
    id: 'msg_1',
    model: 'asked-model',
    inputTokensEstimate: 42,
    context: { toolNames: createToolNames(), prefill: '', showsThinking: true, ...context },
  }
}
