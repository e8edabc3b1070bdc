// POST /responses/compact: the conversation, sealed in one item.
import { type Charge, type Exchange, type Reply, type Route, whole } from '../../kernel/exchange.ts'
import { nextId } from '../../kernel/identifiers.ts'
import { bentUsage } from '../../kernel/usage.ts'
import { answerTo, unitsOf } from '../../model/answer.ts'
import { scriptText } from '../../model/conversation.ts'
import { withPromptCache } from '../../model/prompt-cache.ts'
import { responseAnswer, responseUsage } from './answer.ts'
import { inputItems, responseConversation, responsesText } from './conversation.ts'
import type { ResponsesDialect } from './endpoint.ts'
import { checkResponses } from './request.ts'

export function compactRoute(dialect: ResponsesDialect): Route {
  return {
    method: 'POST',
    path: '/responses/compact',
    operation: 'responses',
    text: (json) => scriptText(responsesText(json)),
    handle: (exchange) => handle(exchange, dialect),
  }
}

function handle(exchange: Exchange, dialect: ResponsesDialect): Reply {
  const { json, scenario } = exchange
  checkResponses(json, dialect.keys)
  dialect.checkModel(String(json.model), json)
  const items = inputItems(json.input)
  const conversation = responseConversation(json, items)
  const script = withPromptCache(exchange, String(json.model), conversation)
  const answer = answerTo(conversation, script)
  const response = responseAnswer(exchange, answer, json, {})
  const usage = bentUsage(responseUsage(response), scenario.text('usage'))
  const sealed = Buffer.from(JSON.stringify(items)).toString('base64')
  const body = {
    id: response.id,
    object: 'response.compaction',
    created_at: response.created,
    output: [{ type: 'compaction', id: `cmp_${nextId()}`, encrypted_content: sealed }],
    usage,
  }
  const charge: Charge = { model: response.model, units: unitsOf(answer), reported: usage }
  return whole(200, body, { headers: dialect.headers(exchange), charge })
}
