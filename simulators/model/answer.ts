// The simulated model: deterministic, with readable output, and controlled by the prompt.
import { isObject } from '../kernel/checks.ts'
import { readScript, type Script, type ScriptedCall } from '../kernel/script.ts'
import {
  type Conversation,
  currentTurn,
  inputText,
  type OfferedTool,
  scriptText,
  type Turn,
} from './conversation.ts'
import { firstTokens, tokensOf } from './tokens.ts'

export interface ToolCall {
  tool: OfferedTool
  /** JSON text, or the bare text of a freeform tool. */
  args: string
}

export type Stop = 'end' | 'length' | 'tools' | 'stop-sequence' | 'filter' | (string & {})

export interface Answer {
  text: string
  /** The number of pieces into which a stream cuts the text. */
  pieceCount: number
  reason: string
  calls: ToolCall[]
  stop: Stop
  stopSequence?: string
  tokens: {
    /** All input, including cached parts. */
    input: number
    cached: number
    cacheWrite: number
    text: number
    reason: number
    calls: number[]
    output: number
  }
}

const MAX_PIECES = 2000

export function answerTo(conversation: Conversation, script: Script): Answer {
  const calls = callsFor(conversation, script)
  const reason = script.reason ?? ''
  const fullText = calls.length > 0 ? beside(conversation, script) : wordsFor(conversation, script)
  const { text, stop, stopSequence } = limited(fullText, conversation, reason)
  const input = tokensOf(inputText(conversation.turns))
  const cached = Math.min(script.cached, input)
  const callTokens = calls.map((call) => tokensOf(call.tool.name + call.args))
  const tokens = { text: tokensOf(text), reason: tokensOf(reason), calls: callTokens }
  return {
    text,
    pieceCount: script.chunks ?? Math.min(tokens.text, MAX_PIECES),
    reason,
    calls,
    stop: script.stop ?? (calls.length > 0 ? 'tools' : stop),
    stopSequence,
    tokens: {
      ...tokens,
      input,
      cached,
      cacheWrite: Math.min(script.cacheWrite, input - cached),
      output: tokens.text + tokens.reason + callTokens.reduce((sum, count) => sum + count, 0),
    },
  }
}

/** Returns the number of tool calls since the last user message. */
const roundOf = (conversation: Conversation): number =>
  currentTurn(conversation.turns).filter((turn) => turn.calls).length

/** Returns the text that accompanies the first round of calls. */
function beside(conversation: Conversation, script: Script): string {
  return roundOf(conversation) === 0 ? (script.say ?? '') : ''
}

function callsFor(conversation: Conversation, script: Script): ToolCall[] {
  if (conversation.tools.length === 0 || !conversation.mayCallTools) return []
  const step = script.steps[roundOf(conversation)] ?? []
  const calls = step.flatMap((call) => {
    const tool = offered(conversation.tools, call.name)
    return tool ? [{ tool, args: argumentsFor(tool, call) }] : []
  })
  return calls.slice(0, conversation.maxCalls)
}

/** `namespace.name` refers to a tool inside a namespace. */
function offered(tools: OfferedTool[], name: string): OfferedTool | undefined {
  return tools.find((tool) => {
    const full = tool.namespace === undefined ? tool.name : `${tool.namespace}.${tool.name}`
    return full === name || tool.name === name
  })
}

/** A freeform tool gets `{"input": "…"}` unwrapped, any other its arguments unchanged. */
function argumentsFor(tool: OfferedTool, call: ScriptedCall): string {
  if (!tool.freeform) return call.args
  try {
    const parsed: unknown = JSON.parse(call.args)
    return isObject(parsed) && typeof parsed.input === 'string' ? parsed.input : call.args
  } catch {
    return call.args
  }
}

function wordsFor(conversation: Conversation, script: Script): string {
  if (script.tokens !== undefined) return filler(script.tokens)
  const results = currentTurn(conversation.turns).filter((turn) => turn.role === 'tool')
  const scripted = script.steps.length > 0
  if (script.say !== undefined && !(scripted && results.length > 0)) return script.say
  if (results.length > 0) return quoteResults(results)
  const toolNames = script.steps.flat().map((call) => call.name)
  if (toolNames.length > 0) return `I was not offered the tool ${toolNames.join(', ')}.`
  const question = script.plain || readScript(scriptText(conversation.turns)).plain
  return `You asked: "${shortened(question)}". This is a simulated answer.`
}

const SHORT_LENGTH = 120

function shortened(question: string): string {
  if (question.length <= SHORT_LENGTH) return question
  // Never cuts a surrogate pair.
  return question.slice(0, SHORT_LENGTH).replace(/[\uD800-\uDBFF]$/, '')
}

function quoteResults(results: Turn[]): string {
  return results.map((turn, index) => `Tool result ${index + 1}: ${turn.text}`).join('\n')
}

const WORDS = 'the river takes every small stream and gives each drop its due count '

/** Returns exactly this many tokens, since each of its bytes is one character. */
function filler(tokens: number): string {
  const length = tokens * 4
  return WORDS.repeat(Math.ceil(length / WORDS.length)).slice(0, length)
}

function limited(
  fullText: string,
  conversation: Conversation,
  reason: string,
): { text: string; stop: Stop; stopSequence?: string } {
  const hits = conversation.stop
    .map((sequence) => ({ sequence, at: sequence === '' ? -1 : fullText.indexOf(sequence) }))
    .filter((hit) => hit.at >= 0)
    .sort((left, right) => left.at - right.at)
  const hit = hits[0]
  const text = hit ? fullText.slice(0, hit.at) : fullText
  const room = (conversation.maxTokens ?? Number.POSITIVE_INFINITY) - tokensOf(reason)
  if (tokensOf(text) > room) return { text: firstTokens(text, Math.max(0, room)), stop: 'length' }
  if (hit) return { text, stop: 'stop-sequence', stopSequence: hit.sequence }
  return { text, stop: 'end' }
}

/** Returns the text as a stream sends it. */
export const piecesOf = ({ text, pieceCount }: Answer): string[] => cut(text, pieceCount)

/** Cuts into pieces of nearly equal length, never inside a character. */
export function cut(text: string, pieceCount: number): string[] {
  const characters = [...text]
  const count = Math.min(Math.max(1, pieceCount), characters.length)
  const pieces: string[] = []
  for (let index = 0; index < count; index += 1) {
    const from = Math.floor((index * characters.length) / count)
    const to = Math.floor(((index + 1) * characters.length) / count)
    pieces.push(characters.slice(from, to).join(''))
  }
  return pieces
}

/** Returns the tokens of each piece; they sum to the exact count of the whole. */
export function tokensPerPiece(pieces: string[]): number[] {
  let bytes = 0
  let counted = 0
  return pieces.map((piece) => {
    bytes += Buffer.byteLength(piece)
    const now = Math.ceil(bytes / 4)
    const added = now - counted
    counted = now
    return added
  })
}

/** Returns units for the book: input neither read from nor written to the cache is plain input. */
export function unitsOf(answer: Answer): Record<string, number> {
  const { input, cached, cacheWrite, output } = answer.tokens
  return {
    input_token: input - cached - cacheWrite,
    cached_input_token: cached,
    ...(cacheWrite > 0 ? { cache_write_token: cacheWrite } : {}),
    output_token: output,
  }
}
