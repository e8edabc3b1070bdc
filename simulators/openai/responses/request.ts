// Refusals of the Responses endpoint.
import { isInteger, isNumber, isObject, type Json, text } from '../../kernel/checks.ts'
import { badType, badValue, invalid, missing } from '../errors.ts'
import { checkItems, itemType } from './items.ts'

export const RESPONSES_KEYS = new Set(
  (
    'background context_management conversation include input instructions max_output_tokens ' +
    'metadata model moderation parallel_tool_calls previous_response_id prompt prompt_cache_key ' +
    'prompt_cache_options prompt_cache_retention reasoning safety_identifier service_tier store ' +
    'stream stream_options temperature text tool_choice tools top_logprobs top_p truncation user ' +
    'client_metadata max_tool_calls'
  ).split(' '),
)

const TOOL_TYPES = [
  'function',
  'custom',
  'web_search',
  'web_search_preview',
  'file_search',
  'mcp',
  'code_interpreter',
  'image_generation',
  'local_shell',
  'shell',
  'apply_patch',
  'computer_use_preview',
  'computer',
  'namespace',
  'tool_search',
]

export function checkResponses(json: unknown, keys?: Set<string>): asserts json is Json {
  if (!isObject(json)) throw invalid('', undefined, 'We could not parse the JSON body.')
  for (const key in json) {
    if (!keys || keys.has(key)) continue
    throw invalid(key, 'unknown_parameter', `Unknown parameter: '${key}'.`)
  }
  if (json.model === undefined) throw missing('model')
  if (typeof json.model !== 'string') throw badType('model', 'a string')
  checkInput(json)
  checkTools(json.tools, { at: 'tools', strict: keys !== undefined })
  checkChoice(json)
  checkFigures(json)
  const { background } = json
  if (background !== undefined && background !== null && typeof background !== 'boolean') {
    throw badType('background', 'a boolean')
  }
}

function checkInput({ input }: Json): void {
  if (input === undefined || input === null) throw missing('input')
  if (typeof input === 'string') return
  if (!Array.isArray(input)) throw badType('input', 'a string or an array of input items')
  checkItems(input)
  for (const [index, item] of input.entries()) {
    if (itemType(item) !== 'additional_tools') continue
    const at = `input[${index}].tools`
    checkTools(item.tools, { at, strict: true })
    if (Array.isArray(item.tools) && item.tools.length === 0) throw emptyTools(at)
  }
}

interface Place {
  at: string
  /** True if unknown kinds of tools are refused. */
  strict: boolean
}

function checkTools(tools: unknown, { at, strict }: Place): void {
  if (tools === undefined || tools === null) return
  if (!Array.isArray(tools)) throw badType(at, 'an array of objects')
  for (const [index, tool] of tools.entries()) {
    const here = `${at}[${index}]`
    if (!isObject(tool)) throw badType(here, 'an object')
    const type = text(tool.type)
    if (strict && !TOOL_TYPES.includes(type)) throw badValue(`${here}.type`, tool.type, TOOL_TYPES)
    if (!['function', 'custom', 'namespace'].includes(type)) continue
    if (typeof tool.name !== 'string') throw missing(`${here}.name`)
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(tool.name)) {
      const message = `Invalid '${here}.name': string does not match pattern.`
      throw invalid(`${here}.name`, 'invalid_value', message)
    }
    if (type !== 'namespace') continue
    checkTools(tool.tools, { at: `${here}.tools`, strict })
    if (Array.isArray(tool.tools) && tool.tools.length === 0) throw emptyTools(`${here}.tools`)
  }
}

function emptyTools(at: string) {
  const message = `Invalid '${at}': empty array. Expected an array with minimum length 1.`
  return invalid(at, 'empty_array', message)
}

function checkChoice(json: Json): void {
  const choice = json.tool_choice
  if (choice === undefined || choice === null) return
  if (typeof choice === 'string') {
    const allowed = ['none', 'auto', 'required']
    if (!allowed.includes(choice)) throw badValue('tool_choice', choice, allowed)
  } else if (!isObject(choice)) throw badType('tool_choice', 'a string or an object')
  const some = Array.isArray(json.tools) && json.tools.length > 0
  if (choice === 'required' && !some) {
    const message = "Tool choice 'required' must be specified with 'tools' parameter."
    throw invalid('tool_choice', undefined, message)
  }
}

function checkFigures(json: Json): void {
  const { max_output_tokens: limit, stream, temperature, top_p: topP } = json
  if (limit !== undefined && limit !== null && !isInteger(limit, 1)) {
    throw badType('max_output_tokens', 'an integer of at least 1')
  }
  if (stream !== undefined && stream !== null && typeof stream !== 'boolean') {
    throw badType('stream', 'a boolean')
  }
  if (temperature !== undefined && temperature !== null && !isNumber(temperature, 0, 2)) {
    throw badType('temperature', 'a number between 0 and 2')
  }
  if (topP !== undefined && topP !== null && !isNumber(topP, 0, 1)) {
    throw badType('top_p', 'a number between 0 and 1')
  }
}
