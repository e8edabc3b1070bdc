/** Writes a conversation as a request of one of the three dialects. */

import type { PlaygroundModel } from '../frame/capability.ts'
import { dropEmpty, type Json, numberOf, type PlaygroundRequest } from '../frame/order.ts'
import { type ChatValues, DIALECTS, type Dialect } from './values.ts'

/** The messages dialect requires a limit. */
const MESSAGES_TOKENS = 1024
const VERSION = { 'anthropic-version': '2023-06-01' }

/** Dialects that the model's upstreams support. */
export function dialectsOf({ endpoints }: PlaygroundModel): readonly Dialect[] {
  const known: readonly Dialect[] = ['completions', 'messages', 'responses']
  return known.filter((dialect) => endpoints.includes(DIALECTS[dialect]))
}

export function chosenDialect(model: PlaygroundModel, { dialect }: ChatValues): Dialect {
  const dialects = dialectsOf(model)
  return dialects.includes(dialect) ? dialect : (dialects[0] ?? dialect)
}

export function toOrder(model: PlaygroundModel, values: ChatValues): PlaygroundRequest | undefined {
  if (values.draft.trim() === '') return undefined
  const dialect = chosenDialect(model, values)
  return { path: DIALECTS[dialect], ...WRITERS[dialect](model.id, values) }
}

type Writer = (model: string, values: ChatValues) => Omit<PlaygroundRequest, 'path'>

const WRITERS: Readonly<Record<Dialect, Writer>> = {
  completions: (model, { system, temperature, maxTokens, ...conversation }) => {
    const first = system ? [{ role: 'system', content: system }] : []
    return {
      body: dropEmpty({
        model,
        messages: [...first, ...spoken(conversation)],
        temperature: numberOf(temperature),
        max_tokens: numberOf(maxTokens),
        stream: true,
        stream_options: { include_usage: true },
      }),
    }
  },
  messages: (model, { system, temperature, maxTokens, ...conversation }) => ({
    headers: VERSION,
    body: dropEmpty({
      model,
      max_tokens: numberOf(maxTokens) ?? MESSAGES_TOKENS,
      system,
      messages: spoken(conversation),
      temperature: numberOf(temperature),
      stream: true,
    }),
  }),
  responses: (model, { system, temperature, maxTokens, ...conversation }) => ({
    body: dropEmpty({
      model,
      instructions: system,
      input: spoken(conversation),
      temperature: numberOf(temperature),
      max_output_tokens: numberOf(maxTokens),
      stream: true,
    }),
  }),
}

function spoken({ turns, draft }: Pick<ChatValues, 'turns' | 'draft'>): Json[] {
  const earlier = turns.flatMap(({ prompt, reply }) => [
    { role: 'user', content: prompt },
    ...(reply ? [{ role: 'assistant', content: reply.text }] : []),
  ])
  return [...earlier, { role: 'user', content: draft }]
}
