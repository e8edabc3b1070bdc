// The message as a list of events, before oddities and framing.
import type { Json } from '../kernel/checks.ts'
import { cut, piecesOf, tokensPerPiece } from '../model/answer.ts'
import { type MessageAnswer, messageUsage, stopReason, wholeMessage } from './answer.ts'

export interface Step {
  /** The name on the `event:` line; an empty one omits the line. */
  event: string
  data: Json
  units?: number
}

export const step = (data: Json, units?: number): Step => {
  const event = String(data.type)
  return units === undefined ? { event, data } : { event, data, units }
}

interface Block {
  start: Json
  deltas: { delta: Json; units?: number }[]
}

/** `usages` are sent one after the other in message_delta; usually there is one. */
export function messageSteps(message: MessageAnswer, usages: unknown[], opening: unknown): Step[] {
  const { answer } = message
  const start = { ...wholeMessage(message), content: [], stop_reason: null, stop_sequence: null }
  const delta = { stop_reason: stopReason(answer), stop_sequence: answer.stopSequence ?? null }
  const closing = usages.length > 0 ? usages : [undefined]
  return [
    step({ type: 'message_start', message: { ...start, usage: opening } }),
    step({ type: 'ping' }),
    ...blocksOf(message).flatMap(blockSteps),
    ...closing.map((usage) => step({ type: 'message_delta', delta, usage })),
    step({ type: 'message_stop' }),
  ]
}

export function openingUsage(message: MessageAnswer): Json {
  return { ...messageUsage(message), output_tokens: 1 }
}

function blockSteps(block: Block, index: number): Step[] {
  return [
    step({ type: 'content_block_start', index, content_block: block.start }),
    ...block.deltas.map(({ delta, units }) =>
      step({ type: 'content_block_delta', index, delta }, units),
    ),
    step({ type: 'content_block_stop', index }),
  ]
}

function blocksOf(message: MessageAnswer): Block[] {
  const { answer, signature } = message
  const blocks: Block[] = []
  if (answer.reason !== '') {
    const pieces = cut(answer.reason, Math.ceil(answer.tokens.reason / 4))
    const deltas = pieces.map((thinking) => ({ type: 'thinking_delta', thinking }))
    const start = { type: 'thinking', thinking: '', signature: '' }
    const block = counted(start, deltas, pieces)
    block.deltas.push({ delta: { type: 'signature_delta', signature } })
    blocks.push(block)
  }
  if (answer.text !== '') {
    const pieces = piecesOf(answer)
    const deltas = pieces.map((piece) => ({ type: 'text_delta', text: piece }))
    blocks.push(counted({ type: 'text', text: '' }, deltas, pieces))
  }
  return [...blocks, ...answer.calls.map((_, index) => toolBlock(message, index))]
}

function counted(start: Json, deltas: Json[], pieces: string[]): Block {
  const units = tokensPerPiece(pieces)
  return { start, deltas: deltas.map((delta, at) => ({ delta, units: units[at] ?? 0 })) }
}

/** The first piece of the arguments is empty, as the vendor sends it. */
function toolBlock({ answer, callIds }: MessageAnswer, index: number): Block {
  const call = answer.calls[index]
  const args = call?.args === '{}' ? '' : (call?.args ?? '')
  const pieces = ['', ...cut(args, Math.min(8, Math.ceil(args.length / 6)))]
  const total = answer.tokens.calls[index] ?? 0
  const deltas = pieces.map((partial_json, at) => {
    return { delta: { type: 'input_json_delta', partial_json }, units: at === 0 ? total : 0 }
  })
  const name = call?.tool.name
  return { start: { type: 'tool_use', id: callIds[index], name, input: {} }, deltas }
}
