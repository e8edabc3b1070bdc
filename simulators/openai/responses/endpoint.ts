// POST /responses, whole or as typed events.
import { isObject, type Json, text } from '../../kernel/checks.ts'
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
import type { Platform } from '../../kernel/platform.ts'
import type { Scenario } from '../../kernel/scenario.ts'
import { bentUsage } from '../../kernel/usage.ts'
import { answerTo, unitsOf } from '../../model/answer.ts'
import { scriptText } from '../../model/conversation.ts'
import { withPromptCache } from '../../model/prompt-cache.ts'
import { invalid } from '../errors.ts'
import { type ResponseAnswer, responseAnswer, responseObject, responseUsage } from './answer.ts'
import { answerCreation, BackgroundJob } from './background.ts'
import { compactRoute } from './compact.ts'
import { inputItems, responseConversation, responsesText } from './conversation.ts'
import { checkPairs, itemType } from './items.ts'
import { oddItems, oddResponse, oddSteps } from './oddities.ts'
import { checkResponses } from './request.ts'
import { ResponseStore, storeRoutes } from './store.ts'
import { responseSteps, type Step } from './stream.ts'

export interface ResponsesDialect {
  /** Undefined if the vendor ignores unknown fields. */
  keys?: Set<string>
  checkModel: (model: string, json: Json) => void
  check: (exchange: Exchange, json: Json) => void
  errorBody: (failure: Failure) => Json
  headers: (exchange: Exchange) => Record<string, string>
  extras: (json: Json) => Json
  closing: Frame[]
  /** Set if responses can run in the background. */
  background?: Platform
}

export function responsesRoutes(dialect: ResponsesDialect): Route[] {
  const store = new ResponseStore()
  return [
    {
      method: 'POST',
      path: '/responses',
      operation: 'responses',
      text: (json) => scriptText(responsesText(json)),
      handle: (exchange) => handle(exchange, dialect, store),
    },
    compactRoute(dialect),
    ...storeRoutes(store),
  ]
}

function handle(exchange: Exchange, dialect: ResponsesDialect, store: ResponseStore): Reply {
  const { json, scenario } = exchange
  checkResponses(json, dialect.keys)
  dialect.checkModel(String(json.model), json)
  dialect.check(exchange, json)
  const input = inputItems(json.input)
  const earlier = earlierItems(json, store)
  const items = withoutReferences([...earlier, ...input])
  checkPairs(items)
  const conversation = responseConversation(json, items)
  const script = withPromptCache(exchange, String(json.model), conversation)
  const answer = answerTo(conversation, script)
  const response = responseAnswer(exchange, answer, json, dialect.extras(json))
  response.items = oddItems(response.items, scenario)
  const usage = bentUsage(responseUsage(response), scenario.text('usage'))
  if (json.background === true) return inBackground(exchange, dialect, store, response)
  const final = responseObject(response, true, usage)
  if (json.store !== false && !exchange.fast) store.put(final, input, earlier)
  const charge: Charge = {
    model: response.model,
    units: unitsOf(answer),
    grows: 'output_token',
    reported: usage,
  }
  const streams = json.stream === true ? !scenario.has('json-for-stream') : false
  if (streams || scenario.has('stream-for-json')) {
    return streamed(exchange, response, { usage, charge, dialect })
  }
  return whole(200, oddResponse(final, scenario), { headers: dialect.headers(exchange), charge })
}

function inBackground(
  exchange: Exchange,
  { background }: ResponsesDialect,
  store: ResponseStore,
  response: ResponseAnswer,
): Reply {
  if (!background) {
    throw invalid('background', 'unsupported_parameter', 'Background mode is not offered here.')
  }
  const { scenario, json } = exchange as { scenario: Scenario; json: Json }
  const input = inputItems(json.input)
  const earlier = earlierItems(json, store)
  const parts = {
    response,
    usage: bentUsage(responseUsage(response), scenario.text('usage')),
    charge: { model: response.model, units: unitsOf(response.answer) },
  }
  const job = new BackgroundJob(exchange, parts, background, (final) => {
    if (json.store !== false) store.put(final, input, earlier)
  })
  store.run(job)
  return answerCreation(exchange, job)
}

function earlierItems(json: Json, store: ResponseStore): Json[] {
  const id = json.previous_response_id
  if (id === undefined || id === null) return []
  const found = store.get(text(id))
  if (found) return found.items
  const message = `Previous response with id '${text(id)}' not found.`
  throw invalid('previous_response_id', 'previous_response_not_found', message)
}

const withoutReferences = (items: Json[]): Json[] =>
  items.filter((item) => itemType(item) !== 'item_reference')

interface Parts {
  usage: unknown
  charge: Charge
  dialect: ResponsesDialect
}

function streamed(exchange: Exchange, response: ResponseAnswer, parts: Parts): Reply {
  const { scenario } = exchange
  const steps = oddSteps(responseSteps(response, parts.usage), scenario)
  const frames = steps.map((step, index) => frameOf(step, index, scenario))
  frames.push(...parts.dialect.closing)
  if (scenario.has('r_donetail')) frames.push({ data: 'data: [DONE]\n\n' })
  return {
    kind: 'stream',
    status: 200,
    headers: { 'cache-control': 'no-cache', ...parts.dialect.headers(exchange) },
    frames,
    charge: parts.charge,
    error: (shape, failure) => {
      const body = parts.dialect.errorBody(failure)
      return [errorFrame(response, shape, isObject(body.error) ? body.error : {}, scenario)]
    },
    padding: (bytes) => padding(response, bytes, scenario),
  }
}

function frameOf({ data, units }: Step, sequence: number, scenario: Scenario): Frame {
  const { type, ...rest } = data
  const numbered = scenario.has('r_nosequence')
    ? { type, ...rest }
    : { type, sequence_number: sequence, ...rest }
  if (scenario.has('r_noevent')) return dataEvent(numbered, units)
  return namedEvent(text(type), numbered, units)
}

/**
 * `event` is the top-level error event, `flat` another vendor's body, anything else
 * response.failed.
 */
function errorFrame(
  response: ResponseAnswer,
  shape: string,
  error: Json,
  scenario: Scenario,
): Frame {
  const sequence_number = (scenario.number('at') ?? 2) + 1
  const code = error.code ?? error.type ?? 'server_error'
  const { message } = error
  if (shape === 'flat') return namedEvent('error', { error: message, type: error.type })
  if (shape === 'event') {
    return namedEvent('error', { type: 'error', sequence_number, code, message, param: null })
  }
  const failed = {
    ...responseObject(response, false, null),
    status: 'failed',
    error: { code, message },
  }
  const type = 'response.failed'
  return namedEvent(type, { type, sequence_number, response: failed })
}

/** Padding in `obfuscation`, a field of deltas that may have any length. */
function padding(response: ResponseAnswer, bytes: number, scenario: Scenario): Frame {
  const obfuscation = 'x'.repeat(bytes)
  const before = responseObject(response, false, null)
  const data = { type: 'response.in_progress', response: before, obfuscation }
  return frameOf({ data }, 0, scenario)
}
