/**
 * Assigns streamed `tool_calls` entries to calls. The protocol uses `index`; in practice the index
 * may be missing, always 0, or start at 1, ids may be empty, repeated or absent, and names may
 * arrive late. Every reader of chat streams uses this tracker instead of the index.
 */
import { asString, isObject, writeJson } from '../../../base/lib/json.ts'
import { pseudonym } from '../../../base/lib/text/pseudonym.ts'
import type { CallPart, PartCall } from '../parts/part.ts'
import { createJsonDepth, type JsonDepth } from './json-depth.ts'

export interface ToolCall extends PartCall {
  /** The upstream's `index`, when it sent one. */
  readonly index: number | undefined
  id: string
  /** The upstream's id, which need not be unique. */
  upstreamId: string
  name: string
  readonly depth: JsonDepth
}

export interface ToolCallPiece extends CallPart {
  readonly call: ToolCall
  /** True for the first piece of its call. */
  readonly isNew: boolean
}

export interface ToolCallTracker {
  /** Reads the `tool_calls` of one delta, or its legacy `function_call`. */
  readonly read: (delta: unknown) => readonly ToolCallPiece[]
  /** The calls of this message so far, in order. */
  readonly calls: readonly ToolCall[]
}

interface Entry {
  readonly index: number | undefined
  readonly id: string
  readonly name: string
  readonly arguments: string
}

const NONE: readonly ToolCallPiece[] = []

export function createToolCallTracker(): ToolCallTracker {
  const calls: ToolCall[] = []
  const ids = new Set<string>()
  /** The first call of each id of the upstream. */
  const byUpstreamId = new Map<string, ToolCall>()
  /** The call that a piece without an id or a name continues, by upstream index. */
  const current = new Map<number, ToolCall>()

  function find(entry: Entry, slot: number | undefined): ToolCall | undefined {
    const byIndex = entry.index === undefined ? undefined : current.get(entry.index)
    if (entry.id !== '') {
      if (byIndex)
        return byIndex.upstreamId === entry.id || canAdopt(byIndex, entry) ? byIndex : undefined
      return entry.index === undefined ? byUpstreamId.get(entry.id) : undefined
    }
    const candidate = entry.index === undefined ? (calls[slot ?? -1] ?? calls.at(-1)) : byIndex
    return candidate && startsAnother(candidate, entry) ? undefined : candidate
  }

  function open(entry: Entry): ToolCall {
    const call: ToolCall = {
      position: calls.length,
      index: entry.index,
      id: '',
      upstreamId: '',
      name: '',
      depth: createJsonDepth(),
    }
    calls.push(call)
    return call
  }

  function adopt(call: ToolCall, id: string): void {
    call.upstreamId = id
    if (!byUpstreamId.has(id)) byUpstreamId.set(id, call)
    if (ids.has(id)) return
    call.id = id
    ids.add(id)
  }

  function readEntry(entry: Entry, slot: number | undefined): ToolCallPiece {
    const found = find(entry, slot)
    const call = found ?? open(entry)
    if (entry.index !== undefined) current.set(entry.index, call)
    if (call.upstreamId === '' && entry.id !== '') adopt(call, entry.id)
    if (call.name === '') call.name = entry.name
    call.depth.feed(entry.arguments)
    const isComplete = call.depth.isComplete()
    return { kind: 'call', call, isNew: !found, arguments: entry.arguments, isComplete }
  }

  return {
    calls,
    read(delta) {
      if (!isObject(delta)) return NONE
      const { tool_calls: entries, function_call: legacy } = delta
      if (Array.isArray(entries)) {
        const several = entries.length > 1
        return entries
          .filter(isObject)
          .map((entry, slot) => readEntry(readShape(entry), several ? slot : undefined))
      }
      if (!isObject(legacy)) return NONE
      return [readEntry(readShape({ index: 0, function: legacy }), undefined)]
    },
  }
}

/** Longer ids are replaced: the engine compares each with all others of its length. */
const ID_LENGTH_MAX = 8_192

function fitId(id: string): string {
  return id.length > ID_LENGTH_MAX ? `call_${pseudonym(id, 43)}` : id
}

function readShape(entry: Readonly<Record<string, unknown>>): Entry {
  const { function: functionCall, index, id } = entry
  const shape = isObject(functionCall) ? functionCall : {}
  return {
    index: typeof index === 'number' ? index : undefined,
    id: fitId(asString(id) ?? ''),
    name: asString(shape.name) ?? '',
    arguments: readArguments(shape.arguments),
  }
}

/** A few vendors send the arguments as an object instead of its text. */
export function readArguments(value: unknown): string {
  if (typeof value === 'string') return value
  return isObject(value) ? writeJson(value) : ''
}

/** An id may arrive after the call's first piece, unless that piece was a separate call. */
function canAdopt(call: ToolCall, entry: Entry): boolean {
  return call.upstreamId === '' && (call.name === '' || entry.name === '')
}

/**
 * Decides about a piece with a function's name but no id: it begins a new call, unless the
 * arguments of the current one are unfinished, since some vendors repeat the name on every piece.
 */
function startsAnother(call: ToolCall, entry: Entry): boolean {
  if (entry.name === '' || call.name === '') return false
  return entry.name !== call.name || call.depth.isComplete()
}
