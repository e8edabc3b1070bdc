/** Reads from a conversation which tools the vendor has run in it. */
import { asString, isObject, type JsonObject, member } from '../../../../base/lib/json.ts'
import { familyOfTrace } from './tool-family.ts'

/** Items and blocks of every conversation, which are no traces of a vendor's tool. */
const PLAIN: ReadonlySet<unknown> = new Set(['message', 'tool_result', 'tool_use', 'text'])

/** Returns the families of the tools that vendors ran in the conversation. */
export function listTraces({ messages, input }: JsonObject): ReadonlySet<string> {
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
  if (typeof name === 'string' && !PLAIN.has(name)) traces.add(familyOfTrace(name))
}
