/**
 * Repairs a chunk to what the official SDKs require: id, index, role, one name and id per tool
 * call, text as a string. A valid chunk is returned as the same object, so that its bytes can pass
 * unchanged.
 */
import { isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import { readContentText, readReasoning } from './read-message.ts'
import {
  createToolCallTracker,
  type ToolCall,
  type ToolCallPiece,
  type ToolCallTracker,
} from './tool-calls.ts'

/** Longer ids and names of models are replaced. */
const NAME_LENGTH_MAX = 256

/** Values fixed by earlier chunks of a stream. */
export interface RepairState {
  /** Used if the upstream does not send an id. */
  id: string
  created: number
  model: string
  /** True if the caller sent `functions`, and therefore reads only `function_call`. */
  readonly legacyFunctions: boolean
  /** Per choice, by index. */
  readonly choices: Map<number, ChoiceState>
}

interface ChoiceState {
  readonly stream: RepairState
  hasRole: boolean
  readonly tools: ToolCallTracker
  /** Arguments of calls whose name has not arrived yet, by position. */
  readonly unnamed: Map<number, string>
}

export function createRepairState(options: {
  readonly id: string
  readonly legacyFunctions: boolean
}): RepairState {
  return { ...options, created: 0, model: '', choices: new Map() }
}

/** Returns the same object if nothing had to change. */
export function repairChunk(chunk: JsonObject, state: RepairState): JsonObject {
  const hasHead = remember(chunk, state)
  const { choices } = chunk
  const repairedChoices = Array.isArray(choices)
    ? mapChanged(choices, (choice, position) => repairChoice(choice, position, state))
    : []
  if (hasHead && repairedChoices === choices) return chunk
  const { id, created, model } = state
  return { object: 'chat.completion.chunk', ...chunk, id, created, model, choices: repairedChoices }
}

/** Stores the values that identify the stream; false if the chunk lacks one of them. */
function remember(chunk: JsonObject, state: RepairState): boolean {
  const { id, created, model } = chunk
  // Limited, because the stored values are written into every chunk that lacks them.
  const hasId = typeof id === 'string' && id !== '' && id.length <= NAME_LENGTH_MAX
  const hasCreated = typeof created === 'number'
  const hasModel = typeof model === 'string' && model.length <= NAME_LENGTH_MAX
  if (hasId) state.id = id
  if (hasCreated) state.created = created
  if (hasModel) state.model = model
  return hasId && hasCreated && hasModel && typeof chunk.object === 'string'
}

function repairChoice(choice: unknown, position: number, state: RepairState): JsonObject {
  const original = isObject(choice) ? choice : {}
  const index = typeof original.index === 'number' ? original.index : position
  const { finish_reason: finish = null } = original
  const delta = repairDelta(original.delta, stateOf(state, index), finish)
  const reason = repairReason(finish, state.legacyFunctions)
  const isSame = original === choice && index === original.index && delta === original.delta
  if (isSame && reason === finish) return original
  return { ...original, index, delta, finish_reason: reason }
}

/** Some vendors send "" in every chunk where the format requires null. */
function repairReason(reason: unknown, legacyFunctions: boolean): unknown {
  if (reason === '') return null
  return reason === 'function_call' && !legacyFunctions ? 'tool_calls' : reason
}

function stateOf(state: RepairState, index: number): ChoiceState {
  const known = state.choices.get(index)
  if (known) return known
  const tools = createToolCallTracker()
  const fresh = { stream: state, hasRole: false, tools, unnamed: new Map() }
  state.choices.set(index, fresh)
  return fresh
}

function repairDelta(original: unknown, state: ChoiceState, finish: unknown): JsonObject {
  const delta: JsonObject = isObject(original) ? original : {}
  const changes: Record<string, unknown> = {}
  if (!state.hasRole && typeof delta.role !== 'string') changes.role = 'assistant'
  state.hasRole = true
  const { content } = delta
  const isText = typeof content === 'string' || content === null || content === undefined
  if (!isText) Object.assign(changes, readParts(delta))
  const calls = repairCalls(delta, state, Boolean(finish))
  if (calls !== delta.tool_calls) changes.tool_calls = calls
  if (delta === original && Object.keys(changes).length === 0) return delta
  const merged: JsonObject = { ...delta, ...changes }
  const { function_call: legacy, tool_calls: _calls, ...rest } = merged
  if (legacy && state.stream.legacyFunctions) return { ...rest, function_call: legacy }
  return calls === undefined ? rest : { ...rest, tool_calls: calls }
}

/** Some vendors send parts, including reasoning parts, where SDKs expect two strings. */
function readParts(delta: JsonObject): JsonObject {
  const reasoning = readReasoning(delta)
  const content = readContentText(delta.content)
  return { content, ...(reasoning === '' ? {} : { reasoning_content: reasoning }) }
}

/** The calls of a delta in order, the same array when it was in order, undefined for none. */
function repairCalls(delta: JsonObject, state: ChoiceState, isLast: boolean): unknown {
  const original = delta.tool_calls
  if (state.stream.legacyFunctions) return original
  const pieces = state.tools.read(delta)
  const unnamedCalls = isLast ? takeUnnamed(state, pieces) : []
  if (pieces.length === 0 && unnamedCalls.length === 0)
    return isNoCall(original) ? original : undefined
  const entries = Array.isArray(original) ? original.filter(isObject) : []
  const calls = [...unnamedCalls]
  let changed =
    unnamedCalls.length > 0 || !Array.isArray(original) || entries.length !== original.length
  for (const [slot, piece] of pieces.entries()) {
    const call = repairCall(entries[slot], piece, state, isLast)
    if (call !== entries[slot]) changed = true
    if (call) calls.push(call)
  }
  if (!changed) return original
  return calls.length > 0 ? calls : undefined
}

function isNoCall(calls: unknown): boolean {
  return calls === undefined || calls === null || (Array.isArray(calls) && calls.length === 0)
}

/** Repairs one entry; undefined until the function's name has arrived. */
function repairCall(
  entry: unknown,
  { call, isNew, arguments: text }: ToolCallPiece,
  state: ChoiceState,
  isLast: boolean,
): JsonObject | undefined {
  const waiting = state.unnamed.get(call.position)
  if (call.name === '' && !isLast) {
    state.unnamed.set(call.position, (waiting ?? '') + text)
    return undefined
  }
  state.unnamed.delete(call.position)
  if (isNew || waiting !== undefined) {
    if (isNew && isOpening(entry, call)) return entry
    return { ...openCall(call, (waiting ?? '') + text, state), ...readExtra(entry) }
  }
  if (isContinuation(entry, call.position)) return entry
  return { index: call.position, function: { arguments: text }, ...readExtra(entry) }
}

/** Keeps a vendor's signature of a call, which must be sent back to it. */
function readExtra(entry: unknown): JsonObject {
  const extra = member(entry, 'extra_content')
  return extra === undefined ? {} : { extra_content: extra }
}

function openCall({ position, id, name }: ToolCall, text: string, state: ChoiceState): JsonObject {
  const seed = state.stream.id.replaceAll(/[^A-Za-z0-9]/g, '')
  const functionCall = { name: name || 'unknown', arguments: text }
  return {
    index: position,
    id: id || `call_${seed}_${position}`,
    type: 'function',
    function: functionCall,
  }
}

/** Calls that never got a name are sent with the last chunk, rather than being lost. */
function takeUnnamed(state: ChoiceState, pieces: readonly ToolCallPiece[]): JsonObject[] {
  const arriving = new Set(pieces.map(({ call }) => call.position))
  const calls: JsonObject[] = []
  for (const [position, text] of state.unnamed) {
    const call = state.tools.calls[position]
    if (!call || arriving.has(position)) continue
    calls.push(openCall(call, text, state))
    state.unnamed.delete(position)
  }
  return calls
}

function isOpening(entry: unknown, { position, id }: ToolCall): entry is JsonObject {
  if (!isObject(entry) || !isObject(entry.function)) return false
  const { name, arguments: text } = entry.function
  const isNamed = isFilled(id) && entry.id === id && isFilled(name)
  return entry.index === position && isNamed && typeof text === 'string'
}

function isContinuation(entry: unknown, position: number): entry is JsonObject {
  if (!isObject(entry) || !isObject(entry.function)) return false
  const { name, arguments: text } = entry.function
  const isUnmarked = !isFilled(entry.id) && !isFilled(name)
  return entry.index === position && isUnmarked && typeof text === 'string'
}

function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function mapChanged(
  items: readonly unknown[],
  change: (item: unknown, position: number) => unknown,
): readonly unknown[] {
  const changed = items.map(change)
  return changed.some((item, position) => item !== items[position]) ? changed : items
}
