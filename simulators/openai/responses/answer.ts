// The response object and its output items, shared by the whole answer and the stream.
import { isObject, type Json } from '../../kernel/checks.ts'
import type { Exchange } from '../../kernel/exchange.ts'
import { answerId, nextId } from '../../kernel/identifiers.ts'
import type { Answer, ToolCall } from '../../model/answer.ts'

export interface ResponseAnswer {
  answer: Answer
  request: Json
  id: string
  model: string
  created: number
  items: Json[]
  /** Fields that only one vendor has. */
  extras: Json
}

export function responseAnswer(
  exchange: Exchange,
  answer: Answer,
  request: Json,
  extras: Json,
): ResponseAnswer {
  return {
    answer,
    request,
    extras,
    id: answerId(exchange, 'resp_'),
    model: String(request.model),
    created: Math.floor(Date.now() / 1000),
    items: outputItems(exchange, answer, request),
  }
}

function outputItems(exchange: Exchange, answer: Answer, request: Json): Json[] {
  const items: Json[] = []
  const status = 'completed'
  if (answer.reason !== '') {
    const summary = [{ type: 'summary_text', text: answer.reason }]
    const item: Json = { id: `rs_${nextId()}`, type: 'reasoning', summary, status }
    const include: unknown[] = Array.isArray(request.include) ? request.include : []
    if (include.includes('reasoning.encrypted_content')) {
      item.encrypted_content = Buffer.from(answer.reason).toString('base64')
    }
    items.push(item)
  }
  if (answer.text !== '' || answer.calls.length === 0) {
    const content = [{ type: 'output_text', text: answer.text, annotations: [], logprobs: [] }]
    const refused = answer.stop === 'refusal'
    const refusal = [{ type: 'refusal', refusal: answer.text }]
    items.push({
      id: `msg_${nextId()}`,
      type: 'message',
      role: 'assistant',
      status: answer.stop === 'length' || answer.stop === 'filter' ? 'incomplete' : status,
      content: refused ? refusal : content,
    })
  }
  for (const call of answer.calls) items.push(callItem(exchange, call))
  return items
}

function callItem(exchange: Exchange, { tool, args }: ToolCall): Json {
  const call_id = answerId(exchange, 'call_')
  const { name } = tool
  const status = 'completed'
  if (tool.freeform) {
    return { id: `ctc_${nextId()}`, type: 'custom_tool_call', status, call_id, name, input: args }
  }
  const namespace = tool.namespace === undefined ? {} : { namespace: tool.namespace }
  const id = `fc_${nextId()}`
  return { id, type: 'function_call', status, arguments: args, call_id, name, ...namespace }
}

export function responseUsage({ answer }: ResponseAnswer): Json {
  const { input, cached, output, reason } = answer.tokens
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reason },
    total_tokens: input + output,
  }
}

const INCOMPLETE: Record<string, string> = {
  length: 'max_output_tokens',
  filter: 'content_filter',
}

export function terminalEvent({ answer }: ResponseAnswer): string {
  return answer.stop in INCOMPLETE ? 'response.incomplete' : 'response.completed'
}

/** Returns the object before, during (`in_progress`) or after the generation of the output. */
export function responseObject(response: ResponseAnswer, done: boolean, usage: unknown): Json {
  const { request, answer } = response
  const reason = INCOMPLETE[answer.stop]
  const incomplete = done && reason !== undefined
  return {
    id: response.id,
    object: 'response',
    created_at: response.created,
    status: incomplete ? 'incomplete' : done ? 'completed' : 'in_progress',
    ...(done && !incomplete ? { completed_at: response.created } : {}),
    error: null,
    incomplete_details: incomplete ? { reason } : null,
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    metadata: request.metadata ?? {},
    model: response.model,
    output: done ? response.items : [],
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: request.previous_response_id ?? null,
    reasoning: isObject(request.reasoning) ? request.reasoning : { effort: null, summary: null },
    store: request.store ?? true,
    temperature: request.temperature ?? 1,
    text: isObject(request.text) ? request.text : { format: { type: 'text' } },
    tool_choice: request.tool_choice ?? 'auto',
    tools: request.tools ?? [],
    top_p: request.top_p ?? 1,
    truncation: request.truncation ?? 'disabled',
    ...response.extras,
    usage,
  }
}
