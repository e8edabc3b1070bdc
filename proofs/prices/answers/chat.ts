/** The vendor's chat completions: whole or as events, with usage in every place and form. */

import type { Case } from '../plan.ts'
import type { Work } from '../vendor/bill.ts'
import { ABSENT, bendUsage } from './bend.ts'
import { CUTS, cutScript } from './broken.ts'
import { dataEvent, EVENT_HEADERS, jsonScript, type Piece, type Script } from './script.ts'
import { chatUsage, type Json, shrink } from './usage.ts'

const WORDS = ['Danube', ', Niger', ', Mekong', '.']
const DONE = Buffer.from('data: [DONE]\n\n')
const TIER_WORDS: Readonly<Record<string, string>> = { standard: 'default', fast: 'priority' }

export function tierWord(tier: string): string {
  return TIER_WORDS[tier] ?? tier
}

/** `stream` is the vendor's request, which may differ from the caller's. */
export function answerChat(testCase: Case, work: Work, stream: boolean, model: string): Script {
  const usage = bendUsage(testCase, chatUsage(work, testCase.answer.form, testCase.work.reasoning))
  const head = {
    id: `chatcmpl-${testCase.id}`,
    object: stream ? 'chat.completion.chunk' : 'chat.completion',
    created: 1_795_000_000,
    model,
    ...tierOf(testCase, work),
    ...resultsOf(testCase, work),
  }
  return stream ? streamOf(testCase, head, usage) : wholeOf(testCase, head, usage)
}

/** Two vendors list what a search found, each in its own place, and neither counts it. */
function resultsOf({ id, tricks }: Case, { counts }: Work): Json {
  if (!counts.web_search_call || tricks.some((name) => name.endsWith('silent'))) return {}
  const results = [{ title: 'Rivers', link: 'https://a.example/rivers' }]
  return id % 2 === 0 ? { web_search: results } : { search_info: { search_results: results } }
}

function tierOf({ answer }: Case, { served }: Work): Json {
  if (answer.breakage === 'an unknown tier') return { service_tier: 'turbo' }
  if (answer.silent) return {}
  return { service_tier: tierWord(served.tier) }
}

function wholeOf({ answer }: Case, head: Json, usage: unknown): Script {
  const choice = {
    index: 0,
    message: { role: 'assistant', content: WORDS.join('') },
    finish_reason: 'stop',
  }
  if (usage === ABSENT) return jsonScript({ ...head, choices: [choice] })
  switch (answer.placement) {
    case 'choice':
      return jsonScript({ ...head, choices: [{ ...choice, usage }] })
    case 'x_groq':
      return jsonScript({ ...head, choices: [choice], x_groq: { id: 'req_1', usage } })
    default:
      return jsonScript({ ...head, choices: [choice], usage })
  }
}

function streamOf({ answer }: Case, head: Json, usage: unknown): Script {
  const { placement, breakage = '' } = answer
  const isStated = usage !== ABSENT
  const chunk = (delta: Json, more: Json = {}, finish: string | null = null, choice: Json = {}) =>
    dataEvent({
      ...head,
      choices: [{ index: 0, delta, finish_reason: finish, ...choice }],
      ...more,
    })
  const beside: Json = isStated && placement === 'every chunk' ? { usage } : {}
  const early: Json = placement === 'null before' ? { usage: null } : beside
  const pieces: Piece[] = [chunk({ role: 'assistant', content: '' }, early)]
  const content = pieces.length
  for (const word of WORDS) pieces.push(chunk({ content: word }, early))
  if (breakage === 'an error event') {
    pieces.push(dataEvent({ error: { message: 'overloaded', type: 'server_error' } }), DONE)
    return { status: 200, headers: EVENT_HEADERS, pieces }
  }
  const usageAt = pieces.length
  if (!isStated) pieces.push(chunk({}, {}, 'stop'))
  else pieces.push(...endingOf(placement, chunk, head, usage))
  const marks = { content, usage: usageAt, ending: pieces.length }
  pieces.push(DONE)
  const script = { status: 200, headers: EVENT_HEADERS, pieces }
  const cut = CUTS[breakage]
  return cut ? cutScript(script, marks, cut) : script
}

type MakeChunk = (delta: Json, more?: Json, finish?: string | null, choice?: Json) => Buffer

function endingOf(placement: string, chunk: MakeChunk, head: Json, usage: unknown): Piece[] {
  const last = dataEvent({ ...head, choices: [], usage })
  switch (placement) {
    case 'with the finish':
      return [chunk({}, { usage }, 'stop')]
    case 'choice':
      return [chunk({}, {}, 'stop', { usage })]
    case 'x_groq':
      return [chunk({}, { x_groq: { id: 'req_1', usage } }, 'stop')]
    case 'twice':
      return [chunk({}, {}, 'stop'), last, last]
    case 'shrinking':
      return [
        chunk({}, {}, 'stop'),
        last,
        dataEvent({ ...head, choices: [], usage: shrink(usage) }),
        dataEvent({ ...head, choices: [], usage: shrink(usage, 0) }),
      ]
    case 'late':
      return [chunk({}, {}, 'stop'), { waitMs: 20 }, last]
    case 'growing':
      return [chunk({}, { usage: shrink(usage) }, null), chunk({}, {}, 'stop'), last]
    default:
      return [chunk({}, {}, 'stop'), last]
  }
}
