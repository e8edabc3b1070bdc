/** POST /v1/messages/count_tokens: an estimate, free of charge. */
import { z } from 'zod'
import { countMessagesTokens } from '../../dialects/messages/count-tokens.ts'
import { validateMessagesRequest } from '../../dialects/messages/validate-request.ts'
import { sendJson } from '../../http/reply.ts'
import { readJson, withInvalidRequests } from '../../pipeline/request/read-request.ts'
import type { AccountEndpoint } from '../endpoint.ts'

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
    description: 'Estimated from the text’s length; nothing is charged and no upstream is called.',
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
    sendJson(context, 200, { input_tokens: countMessagesTokens(value) })
  },
}
