// POST /v1/messages, POST /v1/messages/count_tokens and GET /v1/models.
import { isObject, type Json } from '../kernel/checks.ts'
import { dataEvent, namedEvent } from '../kernel/events.ts'
import {
  type Charge,
  type Exchange,
  type Failure,
  type Frame,
  Refused,
  type Reply,
  type Route,
  whole,
} from '../kernel/exchange.ts'
import { bentUsage, usageSequence } from '../kernel/usage.ts'
import { answerTo, unitsOf } from '../model/answer.ts'
import { inputText, scriptText } from '../model/conversation.ts'
import { withPromptCache } from '../model/prompt-cache.ts'
import { tokensOf } from '../model/tokens.ts'
import { type MessageAnswer, messageAnswer, messageUsage, wholeMessage } from './answer.ts'
import { messageConversation, messageTurns } from './conversation.ts'
import { DECLINED, declined, declinedSteps } from './declined.ts'
import { errorBody, rateLimits } from './errors.ts'
import { MESSAGE_ODDITIES } from './oddities.ts'
import { checkCountRequest, checkMessagesRequest } from './request.ts'
import { messageSteps, openingUsage, type Step } from './stream.ts'
import { checkThinking, mayThink, mustThink } from './thinking.ts'

export interface Models {
  ids: string[]
}

const has = (models: Models, id: string) => id.startsWith('sim-') || models.ids.includes(id)

function checkModel(models: Models, id: string): void {
  if (!has(models, id)) throw new Refused({ status: 404, message: `model: ${id}` })
}

export function anthropicRoutes(models: Models): Route[] {
  const text = (json: unknown) => scriptText(messageTurns(json))
  return [
    {
      method: 'POST',
      path: '/v1/messages',
      operation: 'messages',
      text,
      handle: (exchange) => answerMessages(exchange, models),
    },
    {
      method: 'POST',
      path: '/v1/messages/count_tokens',
      operation: 'count_tokens',
      text,
      handle: ({ json }) => {
        checkCountRequest(json)
        checkModel(models, String(json.model))
        return whole(200, { input_tokens: tokensOf(inputText(messageTurns(json))) })
      },
    },
    { method: 'GET', path: '/v1/models', operation: 'models', handle: (one) => list(one, models) },
    {
      method: 'GET',
      path: '/v1/models/{id}',
      operation: 'models',
      handle: ({ path }) => {
        const id = decodeURIComponent(path.slice('/v1/models/'.length))
        checkModel(models, id)
        return whole(200, modelEntry(id))
      },
    },
  ]
}

function modelEntry(id: string): Json {
  const display_name = id.replace(/^sim-/, 'Simulated ')
  return { type: 'model', id, display_name, created_at: '2026-01-01T00:00:00Z' }
}

function list(exchange: Exchange, models: Models): Reply {
  const query = new URLSearchParams(exchange.query)
  const after = models.ids.indexOf(query.get('after_id') ?? '')
  const before = models.ids.indexOf(query.get('before_id') ?? '')
  const range = models.ids.slice(after + 1, before < 0 ? undefined : before)
  const page = range.slice(0, Number(query.get('limit') ?? 20))
  return whole(200, {
    data: page.map(modelEntry),
    has_more: page.length < range.length,
    first_id: page[0] ?? null,
    last_id: page.at(-1) ?? null,
  })
}

/** The thinking before a call of a tool, where no script has some. */
const THOUGHT = 'A tool can do this.'

export function answerMessages(exchange: Exchange, models: Models): Reply {
  const { json, scenario } = exchange
  checkMessagesRequest(json)
  checkThinking(json, exchange.request.headers)
  const model = String(json.model)
  checkModel(models, model)
  const conversation = messageConversation(json)
  const { reason, ...rest } = withPromptCache(exchange, model, conversation)
  const thinks = reason !== undefined && mayThink(json, exchange.request.headers)
  let answered = answerTo(conversation, thinks ? { ...rest, reason } : rest)
  if (!thinks && answered.calls.length > 0 && mustThink(json)) {
    answered = answerTo(conversation, { ...rest, reason: THOUGHT })
  }
  const message = messageAnswer(exchange, answered, model)
  const headers = exchange.fast ? {} : rateLimits(3999)
  const streams = json.stream === true ? !scenario.has('json-for-stream') : false
  const category = scenario.text(DECLINED.name)
  if (category !== undefined) {
    const { ending, usage, units } = declined(category, messageUsage(message))
    const charge = { model, units, reported: usage }
    const empty = { ...wholeMessage(message), content: [] }
    if (!streams) return whole(200, { ...empty, ...ending, usage }, { headers, charge })
    return streamOf(exchange, declinedSteps(empty, ending, usage).map(frameOf), headers, charge)
  }
  if (streams || scenario.has('stream-for-json')) return streamed(exchange, message, headers)
  const usage = bentUsage(messageUsage(message), scenario.text('usage'))
  const body = wholeMessage(message)
  if (usage !== undefined) body.usage = usage
  return whole(200, body, { headers, charge: chargeFor(message, usage) })
}

function chargeFor({ answer, model }: MessageAnswer, reported: unknown): Charge {
  return { model, units: unitsOf(answer), grows: 'output_token', reported }
}

function streamed(
  exchange: Exchange,
  message: MessageAnswer,
  headers: Record<string, string>,
): Reply {
  const { scenario } = exchange
  const how = scenario.text('usage')
  const usages = usageSequence(messageUsage(message), how)
  let steps = messageSteps(message, usages, bentUsage(openingUsage(message), how))
  for (const name of scenario.names()) {
    steps = MESSAGE_ODDITIES[name]?.change(steps, message) ?? steps
  }
  const frames = steps.map(frameOf)
  if (scenario.has('s_donetail')) frames.push({ data: 'data: [DONE]\n\n' })
  return streamOf(exchange, frames, headers, chargeFor(message, usages.at(-1)))
}

function streamOf(
  exchange: Exchange,
  frames: Frame[],
  headers: Record<string, string>,
  charge: Charge,
): Reply {
  return {
    kind: 'stream',
    status: 200,
    headers: { 'cache-control': 'no-cache', ...headers },
    frames,
    charge,
    error: (shape, failure) => [errorFrame(exchange, shape, failure)],
    padding: (bytes) => namedEvent('ping', { type: 'ping', padding: 'x'.repeat(bytes) }),
  }
}

function frameOf({ event, data, units }: Step): Frame {
  return event === '' ? dataEvent(data, units) : namedEvent(event, data, units)
}

/** The vendor's own streams fail with an overload; some compatible services send `flat`. */
function errorFrame(exchange: Exchange, shape: string, failure: Failure): Frame {
  const overloaded = { ...failure, code: failure.code ?? 'overloaded_error' }
  const body = errorBody(exchange, overloaded)
  if (shape !== 'flat') return namedEvent('error', body)
  const error = isObject(body.error) ? body.error : {}
  return namedEvent('error', { error: error.message, type: error.type })
}
