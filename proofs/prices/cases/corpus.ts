/** A fixed set of ordinary calls, which bounds the growth of holds when counting gets stricter. */
import { createRandom, type Random } from '../../../testbed/random.ts'
import type { Case } from '../plan.ts'
import { markerOf } from '../plan.ts'
import { PIXEL, prose } from '../requests/filler.ts'
import {
  type Body,
  chatBody,
  messagesBody,
  type RequestSpec,
  responsesBody,
} from '../requests/ordinary.ts'
import { DEFAULT_SERVED } from '../sheet.ts'

/** Models whose prices every version of the gateway understands. */
export const CORPUS_MODELS = ['pp-plain', 'pp-translated', 'pp-claude-few', 'pp-embed'] as const

const SEED = 20_261_122
const COUNT = 240
const PICTURE_SHARE = 0.1

export function makeCorpus(): Case[] {
  return Array.from({ length: COUNT }, (_, id) => makeCall(createRandom(SEED + id), id))
}

function makeCall(random: Random, id: number): Case {
  const bytes = Math.round(100 * 10 ** (random.next() * 2.4))
  const limit = random.next() < 0.6 ? random.pick([256, 1_024, 4_096]) : undefined
  const stream = random.next() < 0.5
  const spec = { id, bytes, limit, stream }
  const share = random.next()
  if (share < 0.5) return chat(random, { ...spec, model: 'pp-plain' })
  if (share < 0.65) return responses(random, { ...spec, model: 'pp-translated' })
  if (share < 0.9) return messages(random, { ...spec, model: 'pp-claude-few' })
  const input = `${markerOf(id)} ${prose(bytes)}`
  return caseOf(id, 'embeddings', '/v1/embeddings', { model: 'pp-embed', input })
}

function chat(random: Random, spec: RequestSpec): Case {
  const body = chatBody(random, spec)
  if (random.next() < PICTURE_SHARE) {
    const messages = body.messages as object[]
    const picture = { type: 'image_url', image_url: { url: PIXEL } }
    body.messages = [...messages, { role: 'user', content: [picture] }]
  }
  return caseOf(spec.id, 'chat', '/v1/chat/completions', body)
}

function responses(random: Random, spec: RequestSpec): Case {
  return caseOf(spec.id, 'responses', '/v1/responses', responsesBody(random, spec))
}

function messages(random: Random, spec: RequestSpec): Case {
  const body = messagesBody(random, spec)
  return caseOf(spec.id, 'messages', '/v1/messages', body)
}

function caseOf(id: number, dialect: Case['dialect'], path: string, body: Body): Case {
  return {
    id,
    dialect,
    model: String(body.model),
    tricks: [],
    path,
    headers: dialect === 'messages' ? { 'anthropic-version': '2023-06-01' } : {},
    body: JSON.stringify(body),
    stream: body.stream === true,
    work: {
      tokensPerThousandBytes: 250,
      hiddenInput: 0,
      shares: {},
      fixed: dialect === 'embeddings' ? {} : { output_token: 20 },
      reasoning: 0,
      served: DEFAULT_SERVED,
      passes: [],
    },
    answer: { form: 'plain', placement: 'last' },
    expected: 'full',
  }
}
