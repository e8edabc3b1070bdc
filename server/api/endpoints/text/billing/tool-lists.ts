/**
 * Finds the tool definitions of a text request wherever vendors read them: at the top, in
 * namespaces of any depth, and in items or blocks of the conversation that bring tools.
 */

import { asString, isAbsent, isObject, type JsonObject, member } from '../../../../base/lib/json.ts'
import type { JsonPath } from '../../../../wire/dialects/cut-json.ts'
import { foldKey } from '../../../../wire/dialects/json-scan.ts'

export interface ListedTool {
  readonly tool: JsonObject
  readonly path: JsonPath
  /** The namespace, the item or the request that has it. */
  readonly holder: JsonObject
}

export interface ToolLists {
  /** Every definition; a namespace comes before its tools. */
  readonly tools: readonly ListedTool[]
  /** Places that a sloppy reader may take for tools. */
  readonly unclear: readonly JsonPath[]
}

interface Found {
  readonly tools: ListedTool[]
  readonly unclear: JsonPath[]
}

/** Steps of the longest path that is read: vendors know one level of namespaces. */
const STEPS_MAX = 12

/** Items that report the functions of the caller's own server, which have no type. */
const REPORT = 'mcp_list_tools'

export function findTools(value: JsonObject): ToolLists {
  const found: Found = { tools: [], unclear: [] }
  readHolder(found, value, () => [])
  for (const name of ['messages', 'input']) readConversation(found, value[name], name)
  return found
}

function readConversation(found: Found, items: unknown, name: string): void {
  if (!Array.isArray(items)) return
  for (let index = 0; index < items.length; index += 1) {
    const item: unknown = items[index]
    if (!isObject(item)) continue
    readHolder(found, item, () => [name, index])
    const { content } = item
    if (!Array.isArray(content)) continue
    for (let part = 0; part < content.length; part += 1) {
      const block: unknown = content[part]
      if (isObject(block)) readHolder(found, block, () => [name, index, 'content', part])
    }
  }
}

/** Reads the `tools` of an object. */
function readHolder(found: Found, holder: JsonObject, at: () => JsonPath): void {
  for (const name in holder) {
    if (name !== 'tools' && (name.length !== 5 || foldKey(name) !== 'tools')) continue
    const list = holder[name]
    if (isAbsent(list)) continue
    const path = [...at(), name]
    if (name !== 'tools' || !Array.isArray(list) || path.length > STEPS_MAX) {
      found.unclear.push(path)
      continue
    }
    const isReport = holder.type === REPORT
    for (let index = 0; index < list.length; index += 1) {
      const tool: unknown = list[index]
      if (isReport && isAbsent(member(tool, 'type'))) continue
      readTool(found, tool, [...path, index], holder)
    }
  }
}

function readTool(found: Found, tool: unknown, path: JsonPath, holder: JsonObject): void {
  if (!isObject(tool)) {
    found.unclear.push(path)
    return
  }
  found.tools.push({ tool, path, holder })
  readHolder(found, tool, () => path)
}

/**
 * Returns what a vendor-run tool is called: its type, or its name where the vendor's own functions
 * have names with a dollar sign. Undefined for a tool of another form.
 */
export function nameOfTool(tool: JsonObject): string | undefined {
  const name = asString(tool.name) ?? asString(member(tool.function, 'name'))
  return name?.startsWith('$') ? name : asString(tool.type)
}
