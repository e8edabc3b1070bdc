/** POST /v1/completions: OpenAI's completions dialect, served by chat models. */
import { z } from 'zod'
import {
  COMPLETION_TOKENS_DEFAULT,
  translateCompletionRequest,
} from '../../../wire/dialects/completions-over-chat/request.ts'
import { readChatOptions } from './billing/chat-options.ts'
import { createMeasure } from './billing/measure.ts'
import { PLAIN_COMPLETIONS } from './billing/plain-members.ts'
import { quoteText, type TextDialect } from './billing/text-billing.ts'
import { listedModels, textEndpoint } from './text-endpoint.ts'

const dialect: TextDialect = {
  limits: ['max_tokens'],
  plain: PLAIN_COMPLETIONS,
  measure: createMeasure,
  readOptions: ({ value }, measure) => readChatOptions(value, measure),
}

const completionRequest = z.looseObject({
  model: z.string().min(1).describe('A chat model from GET /v1/models.'),
  prompt: z
    .union([z.string(), z.array(z.unknown()).min(1)], { error: 'a text' })
    .describe('A single text; it is sent as a user message.'),
  models: listedModels,
  max_tokens: z
    .int()
    .positive()
    .max(10_000_000)
    .nullish()
    .describe(`Maximum output tokens; ${COMPLETION_TOKENS_DEFAULT} by default.`),
  stream: z.boolean().nullish().describe('true: server-sent events.'),
  n: z.int().min(1).max(128).nullish().describe('Number of choices; each is billed.'),
})

const completionAnswer = z.looseObject({
  id: z.string(),
  object: z.literal('text_completion'),
  model: z.string(),
  choices: z.array(
    z.looseObject({
      text: z.string(),
      index: z.int(),
      finish_reason: z.string().nullable(),
    }),
  ),
  usage: z.looseObject({ prompt_tokens: z.int(), completion_tokens: z.int() }),
})

export const completions = textEndpoint({
  paths: ['/v1/completions'],
  operation: 'completion',
  schema: completionRequest,
  dialect,
  metering: {
    takesModels: true,
    check: ({ value }) => void translateCompletionRequest(value, 'max_tokens'),
    quote: ({ value, ...request }) => {
      const maxTokens = value.max_tokens ?? COMPLETION_TOKENS_DEFAULT
      return quoteText({ ...request, value: { ...value, max_tokens: maxTokens } }, dialect)
    },
  },
  stream: 'one `text_completion` per event, then `[DONE]`.',
  documentation: {
    summary: 'Complete a text',
    description:
      'The older form of chat completions, for clients that support no other. The prompt ' +
      'becomes a user message. `suffix`, `echo`, `best_of`, `logprobs`, lists of tokens and ' +
      'several prompts are refused: send a chat completion, or a request for each prompt.',
    answer: completionAnswer,
    example: (model) => ({
      body: { model, prompt: 'Name three rivers.', max_tokens: 64 },
      answer: {
        id: 'cmpl-7Qm2',
        object: 'text_completion',
        created: 1794268800,
        model,
        choices: [
          { text: 'Danube, Niger, Mekong.', index: 0, logprobs: null, finish_reason: 'stop' },
        ],
        usage: { prompt_tokens: 12, completion_tokens: 8, total_tokens: 20 },
      },
    }),
  },
})
