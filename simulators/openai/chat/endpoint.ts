// POST /chat/completions: checks the request, answers whole or as a stream.
import { isObject, type Json } from '../../kernel/checks.ts'
import { dataEvent, namedEvent } from '../../kernel/events.ts'
import {
  type Charge,
  type Exchange,
  type Failure,
  type Frame,
  type Reply,
  type Route,
  whole,
} from '../../kernel/exchange.ts'
import type { Scenario } from '../../kernel/scenario.ts'
import { bentUsage, usageSequence } from '../../kernel/usage.ts'
import { answerTo, unitsOf } from '../../model/answer.ts'
import { scriptText } from '../../model/conversation.ts'
import { withPromptCache } from '../../model/prompt-cache.ts'
import { type ChatAnswer, chatAnswer, chatUsage, wholeChat } from './answer.ts'
import { CHAT_STREAM_ODDITIES, ENDINGS, runningUsage, withUsage } from './oddities.ts'
import { type ChatRules, chatConversation, chatTurns, checkChat, usesFunctions } from './request.ts'
import { chatSteps, chunkOf, type Step } from './stream.ts'
import { oddWhole } from './whole-oddities.ts'

export interface ChatDialect {
  rules: ChatRules
  /** Refuses unknown models, and requests that a model does not support. */
  checkModel: (model: string, json: Json) => void
  errorBody: (failure: Failure) => Json
  headers: (exchange: Exchange) => Record<string, string>
}

export function chatRoute(dialect: ChatDialect): Route {
  return {
    method: 'POST',
    path: '/chat/completions',
    operation: 'chat.completions',
    text: (json) => scriptText(chatTurns(json)),
    handle: (exchange) => handle(exchange, dialect),
  }
}

function handle(exchange: Exchange, dialect: ChatDialect): Reply {
  const { json, scenario } = exchange
  checkChat(json, dialect.rules)
  const model = String(json.model)
  dialect.checkModel(model, json)
  const conversation = chatConversation(json)
  const answer = answerTo(conversation, withPromptCache(exchange, model, conversation))
  const options = { model, choices: Number(json.n ?? 1), functions: usesFunctions(json) }
  const chat = chatAnswer(exchange, answer, options)
  const streams = json.stream === true ? !scenario.has('json-for-stream') : false
  if (streams || scenario.has('stream-for-json')) return streamed(exchange, chat, dialect)
  const usage = bentUsage(chatUsage(chat), scenario.text('usage'))
  const body = oddWhole(wholeChat(chat), scenario)
  if (usage !== undefined) body.usage = usage
  const charge = chargeFor(chat, usage)
  return whole(200, body, { headers: dialect.headers(exchange), charge })
}

function chargeFor(chat: ChatAnswer, reported: unknown): Charge {
  const units = unitsOf(chat.answer)
  units.output_token = (units.output_token ?? 0) * chat.choices
  return { model: chat.model, units, grows: 'output_token', reported }
}

function streamed(exchange: Exchange, chat: ChatAnswer, dialect: ChatDialect): Reply {
  const { scenario } = exchange
  const options = isObject(exchange.json) ? exchange.json.stream_options : undefined
  const streamOptions = isObject(options) ? options : {}
  const usages = usageSequence(chatUsage(chat), scenario.text('usage'))
  let steps = chatSteps(chat)
  if (streamOptions.chunk_include_usage === true) steps = runningUsage(steps, chat)
  else if (streamOptions.include_usage === true) steps = steps.map((step) => withUsage(step, null))
  steps = odd(steps, chat, scenario)
  if (streamOptions.include_usage === true && !scenario.has('c_usageonfinish')) {
    for (const usage of usages) steps.push({ chunk: { ...chunkOf(chat, []), usage } })
  }
  return {
    kind: 'stream',
    status: 200,
    headers: { 'cache-control': 'no-cache', ...dialect.headers(exchange) },
    frames: [...steps.map((step) => dataEvent(step.chunk, step.units)), ...ending(scenario)],
    charge: chargeFor(chat, usages.at(-1)),
    error: (shape, failure) => errorFrames(chat, shape, dialect.errorBody(failure)),
    padding: (bytes) => dataEvent({ ...chunkOf(chat, []), padding: 'x'.repeat(bytes) }),
  }
}

function odd(steps: Step[], chat: ChatAnswer, scenario: Scenario): Step[] {
  let changed = steps
  for (const name of scenario.names()) {
    const oddity = CHAT_STREAM_ODDITIES[name]
    if (oddity) changed = oddity.change(changed, chat)
  }
  return changed
}

function ending(scenario: Scenario): Frame[] {
  const name = scenario.names().find((one) => one in ENDINGS)
  const lines = name === undefined ? undefined : ENDINGS[name]?.data
  return (lines ?? ['data: [DONE]\n\n']).map((data) => ({ data }))
}

function errorFrames(chat: ChatAnswer, shape: string, body: Json): Frame[] {
  const error = isObject(body.error) ? body.error : { message: 'error', type: 'server_error' }
  if (shape === 'flat') return [dataEvent({ error: error.message, type: error.type })]
  if (shape === 'event') return [namedEvent('error', body)]
  if (shape === 'in-choice') {
    const choice = { index: 0, delta: { content: '' }, finish_reason: 'error', error }
    return [dataEvent(chunkOf(chat, [choice]))]
  }
  return [dataEvent(body)]
}
