/**
 * Removes tools that a model has no price for from a request that only offers them, together with
 * everything that refers to them. A tool that the request demands, or has already used, stays in
 * it, and the request is refused.
 */

import {
  asString,
  isAbsent,
  isObject,
  type JsonObject,
  member,
  printValue,
} from '../../../../base/lib/json.ts'
import { cutJson, type JsonPath } from '../../../../wire/dialects/cut-json.ts'
import { parseRequestJson } from '../../../../wire/dialects/request-json/parse.ts'
import { spliceJson } from '../../../../wire/dialects/splice.ts'
import type { TakenOut, TextRequest } from '../../../../work/pipeline/metering.ts'
import type { ToolOffer } from '../../../../work/pipeline/price/dimensions.ts'
import { isOn } from './search-options.ts'
import { readToolChoice, type ToolChoice } from './tool-choice.ts'
import { familiesOf, familyOfTrace, toolFamily } from './tool-family.ts'
import { findTools, type ListedTool } from './tool-lists.ts'

/** Returns the request without the offered tools, or the first of them that it demands. */
export function takeOutTools(request: TextRequest, offers: readonly ToolOffer[]): TakenOut {
  const { value } = request
  const removal = planRemoval(value, offers)
  const choice = readToolChoice(value.tool_choice)
  const demanded = findDemanded(value, offers, choice, removal)
  if (demanded) return { demanded }
  const { paths, gone, kept, isLost } = removal
  paths.push(...listMentions(value, removal))
  if (gone.length > 0 && kept.length === 0) paths.push(['tool_choice'], ['parallel_tool_calls'])
  const { allowed = [] } = choice
  const lost = allowed.filter(({ families }) => isLost(families))
  for (const { path } of lost) paths.push(path)
  const isNothingAllowed = lost.length > 0 && lost.length === allowed.length
  return { request: edit(request, paths, isNothingAllowed && kept.length > 0) }
}

interface Removal {
  /** The paths to cut. */
  readonly paths: JsonPath[]
  /** The tools that are removed. */
  readonly gone: readonly ListedTool[]
  /** The tools that stay, without namespaces. */
  readonly kept: readonly ListedTool[]
  /** True for families of which a tool is removed and none stays. */
  readonly isLost: (families: readonly string[]) => boolean
}

/** Plans to cut a namespace or an item with its last tool: vendors refuse empty ones. */
function planRemoval(value: JsonObject, offers: readonly ToolOffer[]): Removal {
  const leaving = new Set<object>(offers.flatMap(({ tool }) => tool ?? []))
  const { tools } = findTools(value)
  // A namespace comes before its tools.
  for (const { tool, holder } of tools) if (leaving.has(holder)) leaving.add(tool)
  const filled = new Set<object>()
  const gone: ListedTool[] = []
  const kept: ListedTool[] = []
  for (const one of tools.toReversed()) {
    const { tool, holder } = one
    const { tools: inner } = tool
    const isGroup = Array.isArray(inner)
    if (isGroup && inner.length > 0 && !filled.has(tool)) leaving.add(tool)
    if (leaving.has(tool)) gone.push(one)
    else {
      filled.add(holder)
      if (!isGroup) kept.push(one)
    }
  }
  const paths = offers.map(({ path }) => path)
  for (const { path, holder } of gone) {
    paths.push(path)
    if (!filled.has(holder)) paths.push(...listEmptied(value, path, holder))
  }
  return { paths, gone, kept, isLost: createLossTest(gone, kept) }
}

/**
 * Returns what is removed with the last tool of a list: the list at the top, or an item that
 * contains tools.
 */
function listEmptied(value: JsonObject, path: JsonPath, holder: JsonObject): JsonPath[] {
  if (holder === value) return [['tools']]
  return holder.type === 'additional_tools' ? [path.slice(0, -2)] : []
}

function createLossTest(gone: readonly ListedTool[], kept: readonly ListedTool[]) {
  const leaving = new Set(gone.flatMap(({ tool }) => familiesOf(tool)))
  const staying = new Set(kept.flatMap(({ tool }) => familiesOf(tool)))
  return (families: readonly string[]) =>
    families.some((one) => leaving.has(one)) && !families.some((one) => staying.has(one))
}

function findDemanded(
  value: JsonObject,
  offers: readonly ToolOffer[],
  { isForced, families, allowed }: ToolChoice,
  removal: Removal,
): ToolOffer | undefined {
  const { isLost, kept, gone } = removal
  const isLeft = allowed
    ? allowed.some((one) => !isLost(one.families))
    : kept.length > 0 || gone.length === 0
  if (isForced && families.length === 0 && !isLeft) return offers[0]
  const used = listTraces(value)
  const needed = listNeeded(value, removal)
  return offers.find(({ name, tool }) => {
    const own = tool ? familiesOf(tool) : [toolFamily(name)]
    if (own.some((one) => families.includes(one) || used.has(one) || needed.has(one))) return true
    return isSwitchedOn(value, name)
  })
}

/** True for an option that makes the search mandatory. */
function isSwitchedOn(value: JsonObject, name: string): boolean {
  if (name === 'enable_search') return isOn(member(value.search_options, 'forced_search'))
  const mode = member(value.search_parameters, 'mode')
  return name === 'search_parameters' && printValue(mode).toLowerCase() === 'on'
}

/**
 * Returns the families of tools that a container is for, or that are the only callers of others.
 */
function listNeeded(value: JsonObject, { kept }: Removal): ReadonlySet<string> {
  const callers = kept.flatMap(({ tool: { allowed_callers: list } }) => {
    return Array.isArray(list) ? list.filter((one) => typeof one === 'string') : []
  })
  return new Set([...callers.map(toolFamily), ...(isAbsent(value.container) ? [] : CONTAINED)])
}

const CONTAINED = ['code_execution']

/** Returns the paths of members that only make sense with the removed tools. */
function listMentions(value: JsonObject, { paths, isLost }: Removal): JsonPath[] {
  const include: readonly unknown[] = Array.isArray(value.include) ? value.include : []
  const listed = include.flatMap((one, index): JsonPath[] => {
    if (typeof one !== 'string') return []
    const end = one.indexOf(CALL)
    return end > 0 && isLost([one.slice(0, end)]) ? [['include', index]] : []
  })
  const isSearch = paths.some(([name]) => name === 'enable_search')
  return isSearch ? [...listed, ['search_options']] : listed
}

/** `include` lists what a tool's item should contain: `web_search_call.action.sources`. */
const CALL = '_call.'

function edit({ body }: TextRequest, paths: readonly JsonPath[], isNone: boolean): TextRequest {
  const cut = read(cutJson(body, paths))
  if (!isNone) return cut
  return read(spliceJson(cut.body, cut.fields, { set: { tool_choice: '"none"' } }))
}

function read(body: Buffer): TextRequest {
  const parsed = parseRequestJson(body)
  if (!parsed.ok)
    throw new Error(`the request is not valid without the removed tools: ${parsed.message}`)
  return { body, value: parsed.value, fields: parsed.fields }
}

/** Items and blocks that any conversation has, and that are not traces of a vendor's tool. */
const PLAIN: readonly unknown[] = ['message', 'tool_result', 'tool_use', 'text']

/** Returns the families of the tools that vendors ran in the conversation. */
function listTraces({ messages, input }: JsonObject): ReadonlySet<string> {
  const traces = new Set<string>()
  for (const items of [messages, input]) {
    if (!Array.isArray(items)) continue
    for (const item of items) if (isObject(item)) readItem(traces, item)
  }
  return traces
}

function readItem(traces: Set<string>, item: JsonObject): void {
  note(traces, item.type)
  readList(item.content, (block) => {
    note(traces, block.type)
    if (block.type === 'server_tool_use') note(traces, block.name)
  })
  readList(item.tool_calls, (call) => {
    const name = asString(member(call.function, 'name'))
    if (name?.startsWith('$')) note(traces, name)
  })
  readList(item.annotations, ({ type }) => {
    if (type === 'url_citation') note(traces, 'web_search')
  })
}

function readList(list: unknown, read: (one: JsonObject) => void): void {
  if (!Array.isArray(list)) return
  for (const one of list) if (isObject(one)) read(one)
}

function note(traces: Set<string>, name: unknown): void {
  if (typeof name === 'string' && !PLAIN.includes(name)) traces.add(familyOfTrace(name))
}
