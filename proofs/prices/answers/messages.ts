/** The vendor's messages: usage at the start, in every delta or at the end, and in iterations. */

import type { Case } from '../plan.ts'
import type { Work } from '../vendor/bill.ts'
import { ABSENT, BENDS, bendUsage } from './bend.ts'
import { CUTS, cutScript } from './broken.ts'
import { EVENT_HEADERS, jsonScript, namedEvent, type Piece, type Script } from './script.ts'
import { type Json, messagesUsage, shrink } from './usage.ts'

const WORDS = ['Danube', ', Niger', ', Mekong', '.']

export function answerMessages(testCase: Case, work: Work, stream: boolean, model: string): Script {
  const { answer } = testCase
  const full = messagesUsage(work, answer.form, answer.silent === true)
  const usage = bendUsage(testCase, full)
  const head = { id: `msg_${testCase.id}`, type: 'message', role: 'assistant', model }
  if (stream) return streamOf(testCase, head, full, usage)
  return jsonScript({
    ...head,
    content: [{ type: 'text', text: WORDS.join('') }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    ...(usage === ABSENT ? {} : { usage }),
  })
}

function streamOf(testCase: Case, head: Json, full: Json, usage: unknown): Script {
  const { placement, breakage = '' } = testCase.answer
  const bent = BENDS[breakage] !== undefined
  const message = { ...head, content: [], stop_reason: null, stop_sequence: null }
  const event = (type: string, data: Json) => namedEvent(type, { type, ...data })
  const estimate = placement === 'estimated start' ? { input_tokens: 400_000 } : {}
  const begin = bent ? usage : { ...full, ...estimate, output_tokens: 1 }
  const start = begin === ABSENT ? message : { ...message, usage: startOf(begin) }
  const pieces: Piece[] = [event('message_start', { message: start })]
  pieces.push(event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }))
  const content = pieces.length
  for (const text of WORDS) {
    pieces.push(event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }))
  }
  if (breakage === 'an error event') {
    const error = { type: 'overloaded_error', message: 'Overloaded' }
    pieces.push(event('error', { error }))
    return { status: 200, headers: EVENT_HEADERS, pieces }
  }
  pieces.push(event('content_block_stop', { index: 0 }))
  const usageAt = pieces.length
  const end = { delta: { stop_reason: 'end_turn', stop_sequence: null } }
  const last = usage === ABSENT ? end : { ...end, usage: deltaOf(usage, placement) }
  if (placement === 'growing' && !bent) {
    const sofar = { output_tokens: Math.floor(Number(full.output_tokens) / 2) }
    pieces.push(event('message_delta', { ...end, usage: sofar }))
  }
  pieces.push(event('message_delta', last))
  if (placement === 'shrinking' && !bent) {
    for (const factor of [0.5, 0]) {
      pieces.push(event('message_delta', { ...end, usage: shrink(full, factor) as Json }))
    }
  }
  const ending = pieces.length
  pieces.push(event('message_stop', {}))
  const script = { status: 200, headers: EVENT_HEADERS, pieces }
  const cut = CUTS[breakage]
  return cut ? cutScript(script, { content, usage: usageAt, ending }, cut) : script
}

/** Iterations and tool calls are known only at the end. */
function startOf(usage: unknown): unknown {
  if (typeof usage !== 'object' || usage === null || Array.isArray(usage)) return usage
  const { iterations, server_tool_use, ...rest } = usage as Json
  return rest
}

/** The last delta: the output alone, or all counts again, but never the service tier. */
function deltaOf(usage: unknown, placement: string): unknown {
  if (typeof usage !== 'object' || usage === null || Array.isArray(usage)) return usage
  const { cache_creation, service_tier, speed, inference_geo, ...counts } = usage as Json
  if (placement === 'all at the end' || placement === 'estimated start') return counts
  const { input_tokens, cache_read_input_tokens, cache_creation_input_tokens, ...rest } = counts
  return rest
}
