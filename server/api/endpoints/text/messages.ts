/** POST /v1/messages: the messages dialect, with any upstream. */

import { z } from 'zod'
import { GatewayError } from '../../../base/lib/errors.ts'
import { isAbsent } from '../../../base/lib/json.ts'
import { InvalidRequest } from '../../../wire/dialects/invalid-request.ts'
import { countMessagesTokens } from '../../../wire/dialects/messages/count-tokens.ts'
import { validateMessagesRequest } from '../../../wire/dialects/messages/validate-request.ts'
import { MESSAGES_USAGE } from '../../../wire/dialects/usage/usage-places.ts'
import type { Body, RequestParts } from '../../../work/pipeline/metering.ts'
import { measureMessages } from './billing/measure-messages.ts'
import { readMessagesOptions } from './billing/messages-options.ts'
import { PLAIN_MESSAGES } from './billing/plain-members.ts'
import { countInputCeiling, type TextDialect } from './billing/text-billing.ts'
import { findReferences } from './references/find-references.ts'
import { listedModels, textEndpoint } from './text-endpoint.ts'

const dialect: TextDialect = {
  limits: ['max_tokens'],
  plain: PLAIN_MESSAGES,
  measure: measureMessages,
  readOptions: ({ value, headers }, measure, inputTokens) =>
    readMessagesOptions(value, headers, measure, inputTokens),
}

const messagesRequest = z.looseObject({
  model: z.string().min(1).describe('A chat model from GET /v1/models.'),
  max_tokens: z.int().positive().describe('Maximum output tokens.'),
  messages: z
    .array(z.looseObject({ role: z.string() }))
    .min(1)
    .describe('The conversation; each message has a role and content.'),
  system: z.union([z.string(), z.array(z.looseObject({}))]).optional(),
  tools: z.array(z.looseObject({})).nullish().describe('Tools that the model may use.'),
  stream: z.boolean().optional().describe('true: a stream of named events.'),
  models: listedModels,
})

const messagesAnswer = z.looseObject({
  id: z.string(),
  type: z.literal('message'),
  role: z.literal('assistant'),
  content: z.array(z.looseObject({ type: z.string() })),
  model: z.string(),
  stop_reason: z.string().nullable(),
  usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int() }),
})

const VERSION = '2023-06-01'
const DATE = /^\d{4}-\d{2}-\d{2}$/

/**
 * Requires a version. `vendor-version` has one valid value; `anthropic-version`, which SDKs send,
 * may be any date, because newer SDKs send newer ones.
 */
function checkVersion({ headers }: RequestParts): void {
  const { 'vendor-version': ours, 'anthropic-version': theirs } = headers
  if (ours === undefined && theirs === undefined) {
    throw new InvalidRequest(
      'vendor-version',
      `this header, or anthropic-version, is required: ${VERSION}`,
    )
  }
  if (ours !== undefined && ours !== VERSION) {
    throw new InvalidRequest('vendor-version', `the only version is ${VERSION}`)
  }
  if (theirs !== undefined && !(typeof theirs === 'string' && DATE.test(theirs))) {
    throw new InvalidRequest('anthropic-version', 'must be a date such as 2023-06-01')
  }
}

/**
 * Refuses a conversation that the vendor stores: another vendor may serve the next call, and input
 * is priced by what the request contains. SDKs read the details of the error and send the whole
 * conversation instead.
 */
function refuseThread({ value }: RequestParts): void {
  if (isAbsent(value.thread)) return
  throw new GatewayError('invalid_request', {
    message: 'thread: conversations are not kept here: send the whole conversation',
    param: 'thread',
    forSdk: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
  })
}

/** Estimates tokens from the texts, or from the bytes if most of them are not in texts. */
function estimateInput(value: Body, bodyBytes: number): number {
  const byTexts = countMessagesTokens(value)
  const byBytes = countInputCeiling(bodyBytes, measureMessages(value))
  return byTexts * 2 < byBytes ? byBytes : byTexts
}

export const messagesEndpoint = textEndpoint({
  paths: ['/v1/messages'],
  envelope: 'messages',
  operation: 'messages',
  schema: messagesRequest,
  dialect,
  metering: {
    takesModels: true,
    usagePlace: MESSAGES_USAGE,
    check: (parts) => {
      checkVersion(parts)
      refuseThread(parts)
      validateMessagesRequest(parts.value, { needsMaxTokens: true })
    },
    names: { operation: 'messages', find: (value) => findReferences(value) },
    inputTokens: estimateInput,
  },
  stream: 'named events from `message_start` to `message_stop`.',
  documentation: {
    summary: 'Create a message',
    description:
      'Send the header `vendor-version: 2023-06-01`, or `anthropic-version` with any ' +
      'date. The query is ignored. A native upstream receives the request unchanged; any ' +
      'other receives a translation.',
    headers: z.object({
      'vendor-version': z
        .literal(VERSION)
        .optional()
        .describe('Required, unless the SDK sends its own.'),
    }),
    answer: messagesAnswer,
    example: (model) => ({
      headers: { 'vendor-version': VERSION },
      body: { model, max_tokens: 256, messages: [{ role: 'user', content: 'Name a river.' }] },
      answer: {
        id: 'msg_01F6',
        type: 'message',
        role: 'assistant',
        model,
        content: [{ type: 'text', text: 'The Danube.' }],
        stop_reason: 'end_turn',
        stop_sequence: null,
        usage: { input_tokens: 11, output_tokens: 5 },
      },
    }),
  },
})
