/** POST /v1/chat/completions: OpenAI's chat dialect. */

import { z } from 'zod'
import { CHAT_USAGE } from '../../../wire/dialects/usage/usage-places.ts'
import { onEveryPrefix } from '../native-prefixes.ts'
import { readChatOptions } from './billing/chat-options.ts'
import { measureChat } from './billing/measure-chat.ts'
import { PLAIN_CHAT } from './billing/plain-members.ts'
import type { TextDialect } from './billing/text-billing.ts'
import { findReferences } from './references/find-references.ts'
import { listedModels, textEndpoint } from './text-endpoint.ts'

const dialect: TextDialect = {
  limits: ['max_completion_tokens', 'max_tokens'],
  plain: PLAIN_CHAT,
  measure: measureChat,
  readOptions: ({ value }, measure) => readChatOptions(value, measure),
}

const tokenLimit = z.int().positive().max(10_000_000).nullish()

const chatRequest = z.looseObject({
  model: z.string().min(1).describe('A chat model from GET /v1/models.'),
  messages: z
    .array(z.looseObject({ role: z.string().min(1, { abort: true }) }))
    .min(1)
    .describe('The conversation so far; each message has a role and content.'),
  stream: z.boolean().nullish().describe('true: server-sent events.'),
  models: listedModels,
  stream_options: z
    .looseObject({
      include_usage: z.boolean().nullish().describe('true: a last chunk with the usage.'),
    })
    .nullish(),
  max_tokens: tokenLimit.describe('The older name of max_completion_tokens.'),
  max_completion_tokens: tokenLimit.describe('Maximum output tokens; the hold is based on it.'),
  n: z.int().min(1).max(128).nullish().describe('Number of choices; each is billed.'),
  best_of: z.int().min(1).max(128).nullish().describe('Candidates to choose from; all are billed.'),
  temperature: z
    .number()
    .nullish()
    .describe('Passed to the upstream, as are all sampling parameters.'),
  top_p: z.number().nullish(),
  tools: z.array(z.looseObject({})).nullish().describe('Functions that the model may call.'),
})

const usage = z.looseObject({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
})

const chatAnswer = z.looseObject({
  id: z.string(),
  object: z.literal('chat.completion'),
  model: z.string(),
  choices: z.array(z.looseObject({ index: z.int(), finish_reason: z.string().nullable() })),
  usage,
})

export const chatCompletions = textEndpoint({
  paths: onEveryPrefix('/chat/completions'),
  operation: 'chat',
  schema: chatRequest,
  dialect,
  metering: {
    takesModels: true,
    usagePlace: CHAT_USAGE,
    names: { operation: 'chat', find: (value) => findReferences(value) },
  },
  stream: 'one `chat.completion.chunk` per event, then `[DONE]`.',
  documentation: {
    summary: 'Create a chat completion',
    description:
      'Streaming or not. Usage is always collected from the upstream for billing; a usage' +
      ' chunk is forwarded only if the request asks for it.',
    answer: chatAnswer,
    example: (model) => ({
      body: { model, messages: [{ role: 'user', content: 'Name three rivers.' }] },
      answer: {
        id: 'chatcmpl-7Qm2',
        object: 'chat.completion',
        created: 1794268800,
        model,
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: 'Danube, Niger, Mekong.' },
            finish_reason: 'stop',
          },
        ],
        usage: { prompt_tokens: 12, completion_tokens: 8, total_tokens: 20 },
      },
    }),
  },
})
