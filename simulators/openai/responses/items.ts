// Checks input items: their shapes, and that calls and their outputs match.
import { isObject, type Json, text } from '../../kernel/checks.ts'
import { badType, badValue, invalid, missing } from '../errors.ts'

const ROLES = ['assistant', 'system', 'developer', 'user']

/** Required members of each kind of item; kinds not listed here are refused. */
const REQUIRED: Record<string, string[]> = {
  message: ['role', 'content'],
  function_call: ['call_id', 'name', 'arguments'],
  function_call_output: ['call_id', 'output'],
  custom_tool_call: ['call_id', 'name', 'input'],
  custom_tool_call_output: ['call_id', 'output'],
  reasoning: ['summary'],
  item_reference: ['id'],
  tool_search_call: [],
  tool_search_output: ['tools'],
  additional_tools: ['role', 'tools'],
  web_search_call: [],
  file_search_call: [],
  code_interpreter_call: [],
  image_generation_call: [],
  local_shell_call: [],
  local_shell_call_output: [],
  computer_call: [],
  computer_call_output: [],
  mcp_call: [],
  mcp_list_tools: [],
  compaction: [],
}

const PARTS: Record<string, string[]> = {
  assistant: ['output_text', 'refusal'],
  system: ['input_text'],
  developer: ['input_text'],
  user: ['input_text', 'input_image', 'input_file', 'input_audio'],
}

export const itemType = (item: Json): string =>
  text(item.type) || (item.role === undefined ? '' : 'message')

export function checkItems(items: unknown[]): void {
  for (const [index, item] of items.entries()) checkItem(item, `input[${index}]`)
}

function checkItem(item: unknown, at: string): void {
  if (!isObject(item)) throw badType(at, 'an object')
  const type = itemType(item)
  const required = REQUIRED[type]
  if (!required) throw badValue(at, item.type, Object.keys(REQUIRED))
  for (const key of required) if (item[key] === undefined) throw missing(`${at}.${key}`)
  if (type === 'message') checkMessage(item, at)
  if (type === 'function_call' && typeof item.arguments !== 'string') {
    throw badType(`${at}.arguments`, 'a string')
  }
}

function checkMessage(item: Json, at: string): void {
  const role = text(item.role)
  if (!ROLES.includes(role)) throw badValue(`${at}.role`, item.role, ROLES)
  const { content } = item
  if (typeof content === 'string') return
  if (!Array.isArray(content)) throw badType(`${at}.content`, 'a string or an array of parts')
  for (const [index, part] of content.entries()) {
    const allowed = PARTS[role] ?? []
    const here = `${at}.content[${index}]`
    if (!isObject(part)) throw badType(here, 'an object')
    if (!allowed.includes(text(part.type))) throw badValue(here, part.type, allowed)
  }
}

const CALLS = ['function_call', 'custom_tool_call']
const OUTPUTS = ['function_call_output', 'custom_tool_call_output']

/** Checks the whole conversation, including earlier responses. */
export function checkPairs(items: Json[]): void {
  const idsOf = (types: string[]) =>
    new Set(items.filter((item) => types.includes(itemType(item))).map((item) => item.call_id))
  const calls = idsOf(CALLS)
  const outputs = idsOf(OUTPUTS)
  for (const id of outputs) {
    if (calls.has(id)) continue
    const message = `No tool call found for function call output with call_id ${text(id)}.`
    throw invalid('input', undefined, message)
  }
  for (const id of calls) {
    if (outputs.has(id)) continue
    throw invalid('input', undefined, `No tool output found for function call ${text(id)}.`)
  }
}
