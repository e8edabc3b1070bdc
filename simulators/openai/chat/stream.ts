// The chat completion as a list of chunks, before oddities and framing.
import type { Json } from '../../kernel/checks.ts'
import { cut, piecesOf, type ToolCall, tokensPerPiece } from '../../model/answer.ts'
import { type ChatAnswer, finishReason } from './answer.ts'

export interface Step {
  chunk: Json
  units?: number
}

export function chunkOf(chat: ChatAnswer, choices: Json[]): Json {
  const { id, created, model } = chat
  return { id, object: 'chat.completion.chunk', created, model, choices }
}

export function chatSteps(chat: ChatAnswer): Step[] {
  const steps: Step[] = []
  for (let index = 0; index < chat.choices; index += 1) steps.push(...choiceSteps(chat, index))
  return steps
}

function choiceSteps(chat: ChatAnswer, index: number): Step[] {
  const { answer } = chat
  const step = (delta: Json, units?: number, finish: string | null = null): Step => {
    const chunk = chunkOf(chat, [{ index, delta, logprobs: null, finish_reason: finish }])
    return units === undefined ? { chunk } : { chunk, units }
  }
  const reasons = cut(answer.reason, Math.ceil(answer.tokens.reason / 4))
  const reasonUnits = tokensPerPiece(reasons)
  const pieces = piecesOf(answer)
  const textUnits = tokensPerPiece(pieces)
  return [
    step({ role: 'assistant', content: '', refusal: null }),
    ...reasons.map((piece, at) => step({ reasoning_content: piece }, reasonUnits[at])),
    ...pieces.map((piece, at) => step({ content: piece }, textUnits[at])),
    ...answer.calls.flatMap((call, at) =>
      callDeltas(call, at, chat.callIds[at] ?? '').map(({ entry, units }) =>
        step(chat.functions ? { function_call: entry.function } : { tool_calls: [entry] }, units),
      ),
    ),
    step({}, undefined, finishReason(chat)),
  ]
}

function argumentPieces(args: string): string[] {
  return cut(args, Math.min(8, Math.ceil(args.length / 6)))
}

function callDeltas(call: ToolCall, index: number, id: string): { entry: Json; units: number }[] {
  const pieces = argumentPieces(call.args)
  const units = tokensPerPiece([call.tool.name, ...pieces])
  const key = call.tool.freeform ? 'custom' : 'function'
  const field = call.tool.freeform ? 'input' : 'arguments'
  const head = { index, id, type: key, [key]: { name: call.tool.name, [field]: '' } }
  return [
    { entry: head, units: units[0] ?? 0 },
    ...pieces.map((piece, at) => {
      return { entry: { index, [key]: { [field]: piece } }, units: units[at + 1] ?? 0 }
    }),
  ]
}
