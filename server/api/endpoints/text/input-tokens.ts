/**
 * POST /v1/responses/input_tokens: counts tokens with one tokenizer for all models, free of charge.
 */
import { z } from 'zod'
import { sendJson } from '../../../base/http/reply.ts'
import { readJson } from '../../../work/pipeline/request/read-request.ts'
import { checkBody } from '../../../work/pipeline/request/resolve.ts'
import type { AccountEndpoint } from '../endpoint.ts'
import { measureResponses } from './billing/measure-responses.ts'
import { countRequestTokens } from './tokens/count-json.ts'

const inputTokensRequest = z.looseObject({
  model: z.string().nullish(),
  input: z
    .union([z.string(), z.array(z.looseObject({}))], { error: 'a string or an array of items' })
    .nullish(),
  instructions: z.string().nullish(),
  tools: z.array(z.looseObject({})).nullish(),
})

export const inputTokens: AccountEndpoint = {
  kind: 'account',
  method: 'POST',
  paths: ['/v1/responses/input_tokens'],
  envelope: 'nested',
  documentation: {
    summary: 'Count the tokens of a response request',
    description: 'Counted with a tokenizer; nothing is charged and no upstream is called.',
    tag: 'Text',
    body: inputTokensRequest,
    answer: z.object({ object: z.literal('response.input_tokens'), input_tokens: z.int() }),
    example: (model) => ({
      body: { model, input: 'Name a river.' },
      answer: { object: 'response.input_tokens', input_tokens: 11 },
    }),
    errors: [400, 413, 415],
  },
  async handle(context, _caller, services) {
    const { limits } = services
    const { value } = await readJson(context, limits.chatBytesMax, inputTokensRequest)
    checkBody({ schema: inputTokensRequest }, value)
    const { mediaTokens } = measureResponses(value)
    const tokens = (await countRequestTokens(value)) + mediaTokens
    sendJson(context, 200, { object: 'response.input_tokens', input_tokens: tokens })
  },
}
