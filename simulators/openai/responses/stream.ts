// The response as a list of typed events; framing adds the sequence numbers.
import { isObject, type Json, objects, text } from '../../kernel/checks.ts'
import { cut, piecesOf, tokensPerPiece } from '../../model/answer.ts'
import { type ResponseAnswer, responseObject, terminalEvent } from './answer.ts'

export interface Step {
  data: Json
  units?: number
}

type Place = { item_id: unknown; output_index: number }

export function responseSteps(response: ResponseAnswer, usage: unknown): Step[] {
  const before = responseObject(response, false, null)
  const after = responseObject(response, true, usage)
  return [
    { data: { type: 'response.created', response: before } },
    { data: { type: 'response.in_progress', response: before } },
    ...response.items.flatMap((item, index) => itemSteps(response, item, index)),
    { data: { type: terminalEvent(response), response: after } },
  ]
}

function itemSteps(response: ResponseAnswer, item: Json, output_index: number): Step[] {
  const at: Place = { item_id: item.id, output_index }
  const kind = KINDS[text(item.type)]
  const { empty, steps } = kind ? kind(response, item, at) : { empty: {}, steps: [] }
  const added = { ...item, ...empty, status: 'in_progress' }
  return [
    { data: { type: 'response.output_item.added', output_index, item: added } },
    ...steps,
    { data: { type: 'response.output_item.done', output_index, item } },
  ]
}

interface Filled {
  /** The fields that are still empty when the item is added. */
  empty: Json
  steps: Step[]
}

type Kind = (response: ResponseAnswer, item: Json, at: Place) => Filled

const KINDS: Record<string, Kind> = {
  message: messageSteps,
  reasoning: reasoningSteps,
  function_call: (response, item, at) => ({
    empty: { arguments: '' },
    steps: argumentSteps(response, item, at, {
      name: 'response.function_call_arguments',
      key: 'arguments',
    }),
  }),
  custom_tool_call: (response, item, at) => ({
    empty: { input: '' },
    steps: argumentSteps(response, item, at, {
      name: 'response.custom_tool_call_input',
      key: 'input',
    }),
  }),
}

function messageSteps({ answer }: ResponseAnswer, item: Json, at: Place): Filled {
  const part = objects(item.content)[0] ?? {}
  const here = { ...at, content_index: 0 }
  const refusal = part.type === 'refusal'
  const name = refusal ? 'response.refusal' : 'response.output_text'
  const key = refusal ? 'refusal' : 'text'
  const more = refusal ? {} : { logprobs: [] }
  const pieces = piecesOf(answer)
  const units = tokensPerPiece(pieces)
  const deltas = pieces.map((delta, index) => ({
    data: { type: `${name}.delta`, ...here, delta, ...more },
    units: units[index] ?? 0,
  }))
  return {
    empty: { content: [] },
    steps: [
      { data: { type: 'response.content_part.added', ...here, part: { ...part, [key]: '' } } },
      ...deltas,
      { data: { type: `${name}.done`, ...here, [key]: answer.text, ...more } },
      { data: { type: 'response.content_part.done', ...here, part } },
    ],
  }
}

function reasoningSteps({ answer }: ResponseAnswer, item: Json, at: Place): Filled {
  const here = { ...at, summary_index: 0 }
  const part = objects(item.summary)[0] ?? {}
  const pieces = cut(answer.reason, Math.ceil(answer.tokens.reason / 4))
  const units = tokensPerPiece(pieces)
  const name = 'response.reasoning_summary'
  const deltas = pieces.map((delta, index) => ({
    data: { type: `${name}_text.delta`, ...here, delta },
    units: units[index] ?? 0,
  }))
  return {
    empty: { summary: [], encrypted_content: undefined },
    steps: [
      { data: { type: `${name}_part.added`, ...here, part: { ...part, text: '' } } },
      ...deltas,
      { data: { type: `${name}_text.done`, ...here, text: answer.reason } },
      { data: { type: `${name}_part.done`, ...here, part } },
    ],
  }
}

function argumentSteps(
  { answer, items }: ResponseAnswer,
  item: Json,
  at: Place,
  { name, key }: { name: string; key: string },
): Step[] {
  const calls = items.filter((one) => isObject(one) && 'call_id' in one)
  const total = answer.tokens.calls[calls.indexOf(item)] ?? 0
  const args = text(item[key])
  const pieces = cut(args, Math.min(8, Math.max(1, Math.ceil(args.length / 6))))
  const deltas = pieces.map((delta, index) => ({
    data: { type: `${name}.delta`, ...at, delta },
    units: index === 0 ? total : 0,
  }))
  return [...deltas, { data: { type: `${name}.done`, ...at, [key]: item[key], name: item.name } }]
}
