/** The vendor's Responses API: items of hosted tools, usage, and usage of other models. */

import type { Case } from '../plan.ts'
import type { Work } from '../vendor/bill.ts'
import { ABSENT, bendUsage } from './bend.ts'
import { CUTS, cutScript } from './broken.ts'
import { tierWord } from './chat.ts'
import { EVENT_HEADERS, jsonScript, namedEvent, type Piece, type Script } from './script.ts'
import { type Json, responsesUsage, shrink } from './usage.ts'

const WORDS = ['Danube', ', Niger', ', Mekong', '.']
const CONTAINER_MINUTES = 20

export function responseId(caseId: number): string {
  return `resp_pp${caseId}`
}

export function answerResponses(
  testCase: Case,
  work: Work,
  stream: boolean,
  model: string,
): Script {
  const { answer } = testCase
  const usage = bendUsage(testCase, responsesUsage(work, answer.form, testCase.work.reasoning))
  const head = {
    id: responseId(testCase.id),
    object: 'response',
    created_at: 1_795_000_000,
    model,
    ...tierOf(testCase, work),
  }
  const done = {
    ...head,
    status: 'completed',
    output: outputOf(work, testCase.id),
    ...toolUsage(work),
    ...(usage === ABSENT ? {} : { usage }),
  }
  if (!stream) return jsonScript(done)
  return streamOf(answer.breakage ?? '', answer.placement, head, done)
}

function tierOf({ answer }: Case, { served }: Work): Json {
  if (answer.breakage === 'an unknown tier') return { service_tier: 'turbo' }
  return answer.silent ? {} : { service_tier: tierWord(served.tier) }
}

/**
 * Searches that only open a page are not billed as searches; one container serves several calls of
 * one answer, and no other answer.
 */
function outputOf({ counts, passes }: Work, caseId: number): Json[] {
  const items: Json[] = []
  const searches = (counts.web_search_call ?? 0) + (counts['web_search_call:preview'] ?? 0)
  for (let index = 0; index < searches; index += 1) {
    items.push({
      id: `ws_${index}`,
      type: 'web_search_call',
      status: 'completed',
      action: { type: 'search', query: 'rivers' },
    })
  }
  for (let index = 0; index < (counts.file_search_call ?? 0); index += 1) {
    items.push({ id: `fs_${index}`, type: 'file_search_call', status: 'completed', queries: [] })
  }
  const minutes = (counts.container_minute ?? 0) + (counts['container_minute:4g'] ?? 0)
  const containers = minutes / CONTAINER_MINUTES
  for (let index = 0; index < containers; index += 1) {
    const container_id = `c_${caseId}_${index}`
    const item = { type: 'code_interpreter_call', status: 'completed', container_id }
    items.push({ id: `ci_${index}`, ...item }, { id: `ci_${index}b`, ...item })
  }
  for (const { role } of passes) {
    if (role === 'image_generation') items.push({ id: 'ig_1', type: 'image_generation_call' })
  }
  const text = { type: 'output_text', text: WORDS.join(''), annotations: [] }
  items.push({ id: 'msg_1', type: 'message', role: 'assistant', content: [text] })
  return items
}

/** Usage of another model, which the echoed tool names. */
function toolUsage({ passes }: Work): Json {
  const pass = passes.find(({ role }) => role === 'image_generation')
  if (!pass) return {}
  const { counts } = pass
  const texts = counts.input_token ?? 0
  const pictures = counts.image_input_token ?? 0
  const imageTokens = counts.image_output_token ?? 0
  return {
    tools: [{ type: 'image_generation', model: pass.model }],
    tool_usage: {
      image_gen: {
        input_tokens: texts + pictures,
        input_tokens_details: { image_tokens: pictures, text_tokens: texts },
        output_tokens: imageTokens,
        output_tokens_details: { image_tokens: imageTokens, text_tokens: 0 },
        total_tokens: texts + pictures + imageTokens,
      },
    },
  }
}

function streamOf(breakage: string, placement: string, head: Json, done: Json): Script {
  const open = { ...head, status: 'in_progress', output: [], usage: null }
  const pieces: Piece[] = [
    namedEvent('response.created', { type: 'response.created', response: open }),
    namedEvent('response.in_progress', { type: 'response.in_progress', response: open }),
  ]
  const content = pieces.length
  for (const delta of WORDS) {
    const type = 'response.output_text.delta'
    pieces.push(namedEvent(type, { type, item_id: 'msg_1', output_index: 0, delta }))
  }
  if (breakage === 'an error event') {
    pieces.push(namedEvent('error', { type: 'error', code: 'server_error', message: 'fell over' }))
    return { status: 200, headers: EVENT_HEADERS, pieces }
  }
  const usage = pieces.length
  const type = placement === 'incomplete' ? 'response.incomplete' : 'response.completed'
  const status = placement === 'incomplete' ? 'incomplete' : 'completed'
  pieces.push(namedEvent(type, { type, response: { ...done, status } }))
  if (placement === 'shrinking' && breakage === '') {
    const less = { ...done, status, usage: shrink(done.usage) }
    pieces.push(namedEvent(type, { type, response: less }))
  }
  const script = { status: 200, headers: EVENT_HEADERS, pieces }
  const cut = CUTS[breakage]
  return cut ? cutScript(script, { content, usage, ending: pieces.length }, cut) : script
}
