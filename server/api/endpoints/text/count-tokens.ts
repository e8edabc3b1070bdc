/**
 * POST /v1/messages/count_tokens: counts tokens with one tokenizer for all models, free of charge.
 */
import { z } from 'zod'
import { sendJson } from '../../../base/http/reply.ts'
import { validateMessagesRequest } from '../../../wire/dialects/messages/validate-request.ts'
import { readJson, withInvalidRequests } from '../../../work/pipeline/request/read-request.ts'
import type { AccountEndpoint } from '../endpoint.ts'
import { measureMessages } from './billing/measure-messages.ts'
import { countRequestTokens } from './tokens/count-json.ts'

/** Only for the reference: the dialect validates the request. */
const countRequest = z.looseObject({
  model: z.string().optional(),
  messages: z.array(z.looseObject({ role: z.string() })).min(1),
})

export const countTokens: AccountEndpoint = {
  kind: 'account',
  method: 'POST',
  paths: ['/v1/messages/count_tokens'],
  envelope: 'messages',
  documentation: {
    summary: 'Count the tokens of a message request',
    description: 'Counted with a tokenizer; nothing is charged and no upstream is called.',
    tag: 'Text',
    body: countRequest,
    answer: z.object({ input_tokens: z.int() }),
    example: (model) => ({
      body: { model, messages: [{ role: 'user', content: 'Name a river.' }] },
      answer: { input_tokens: 11 },
    }),
    errors: [400, 413, 415],
  },
  async handle(context, _caller, services) {
    const { value } = await readJson(context, services.limits.chatBytesMax, countRequest)
    await withInvalidRequests(() => validateMessagesRequest(value, { needsMaxTokens: false }))
    const { mediaTokens } = measureMessages(value)
    sendJson(context, 200, { input_tokens: (await countRequestTokens(value)) + mediaTokens })
  },
}
