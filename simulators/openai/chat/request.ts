// Refusals of the chat completions endpoint, and its request as a conversation.
import {
  isInteger,
  isNumber,
  isObject,
  type Json,
  objects,
  text,
  textOfParts,
} from '../../kernel/checks.ts'
import type { Conversation, OfferedTool, Turn } from '../../model/conversation.ts'
import { badType, badValue, invalid, missing } from '../errors.ts'
import { checkMessages } from './messages.ts'

const CHAT_KEYS = new Set(
  (
    'messages model audio frequency_penalty function_call functions logit_bias logprobs ' +
    'max_completion_tokens max_tokens metadata modalities moderation n parallel_tool_calls ' +
    'prediction presence_penalty prompt_cache_key prompt_cache_options prompt_cache_retention ' +
    'reasoning_effort response_format safety_identifier seed service_tier stop store stream ' +
    'stream_options temperature tool_choice tools top_logprobs top_p user verbosity ' +
    'web_search_options'
  ).split(' '),
)

export interface ChatRules {
  /** Undefined if the vendor ignores unknown fields. */
  keys?: Set<string>
  roles: string[]
  parts: string[]
  efforts: string[]
}

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

export const OPENAI_CHAT_RULES: ChatRules = {
  keys: CHAT_KEYS,
  roles: ['system', 'assistant', 'user', 'function', 'tool', 'developer'],
  parts: ['text', 'image_url', 'input_audio', 'file', 'refusal'],
  efforts: EFFORTS,
}

export function checkChat(json: unknown, rules: ChatRules): asserts json is Json {
  if (!isObject(json)) throw invalid('', undefined, 'We could not parse the JSON body.')
  for (const key in json) {
    if (rules.keys && !rules.keys.has(key)) {
      throw invalid('', undefined, `Unrecognized request argument supplied: ${key}`)
    }
  }
  if (json.model === undefined) throw invalid('', undefined, 'you must provide a model parameter')
  if (typeof json.model !== 'string') throw badType('model', 'a string')
  checkMessages(json.messages, rules)
  checkTools(json)
  checkFunctions(json)
  checkSampling(json)
  checkStream(json)
  checkLimits(json, rules)
}

function checkTools(json: Json): void {
  const { tools } = json
  if (tools === undefined || tools === null) {
    for (const key of ['tool_choice', 'parallel_tool_calls']) {
      if (json[key] === undefined || json[key] === null) continue
      throw invalid(key, undefined, `'${key}' is only allowed when 'tools' are specified.`)
    }
    return
  }
  if (!Array.isArray(tools)) throw badType('tools', 'an array of objects')
  if (tools.length === 0) {
    const message = "Invalid 'tools': empty array. Expected an array with minimum length 1."
    throw invalid('tools', 'empty_array', message)
  }
  for (const [index, tool] of tools.entries()) checkTool(tool, `tools[${index}]`)
}

/** The form before `tools`: functions without a type around them. */
function checkFunctions(json: Json): void {
  const { functions } = json
  if (functions === undefined || functions === null) {
    if (json.function_call === undefined || json.function_call === null) return
    const message = "'function_call' is only allowed when 'functions' are specified."
    throw invalid('function_call', undefined, message)
  }
  if (!Array.isArray(functions)) throw badType('functions', 'an array of objects')
  if (functions.length === 0) {
    const message = "Invalid 'functions': empty array. Expected an array with minimum length 1."
    throw invalid('functions', 'empty_array', message)
  }
  for (const [index, body] of functions.entries()) checkFunction(body, `functions[${index}]`)
}

function checkTool(tool: unknown, at: string): void {
  if (!isObject(tool)) throw badType(at, 'an object')
  if (tool.type !== 'function' && tool.type !== 'custom') {
    throw badValue(`${at}.type`, tool.type, ['function', 'custom'])
  }
  checkFunction(tool[tool.type], `${at}.${tool.type}`)
}

function checkFunction(body: unknown, at: string): void {
  if (!isObject(body)) throw missing(at)
  if (typeof body.name !== 'string') throw missing(`${at}.name`)
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(body.name)) {
    const where = `${at}.name`
    const message = `Invalid '${where}': string does not match pattern '^[a-zA-Z0-9_-]+$'.`
    throw invalid(where, 'invalid_value', message)
  }
  const { parameters } = body
  if (parameters === undefined || parameters === null) return
  if (!isObject(parameters) || (parameters.type ?? 'object') !== 'object') {
    const message = `Invalid schema for function '${body.name}': schema must be of type "object".`
    throw invalid(`${at}.parameters`, 'invalid_function_parameters', message)
  }
}

function checkSampling(json: Json): void {
  const ranges: [string, number, number][] = [
    ['temperature', 0, 2],
    ['top_p', 0, 1],
    ['presence_penalty', -2, 2],
    ['frequency_penalty', -2, 2],
  ]
  for (const [key, low, high] of ranges) {
    const value = json[key]
    if (value === undefined || value === null || isNumber(value, low, high)) continue
    if (typeof value !== 'number') throw badType(key, 'a number')
    const message = `Invalid '${key}': expected a value between ${low} and ${high}.`
    throw invalid(key, 'invalid_value', message)
  }
  const { n, stop } = json
  if (n !== undefined && n !== null && !isInteger(n, 1, 128)) throw badType('n', 'an integer 1-128')
  if (Array.isArray(stop) && stop.length > 4) {
    const message = "Invalid 'stop': array too long. Expected an array with maximum length 4."
    throw invalid('stop', 'array_above_max_length', message)
  }
}

function checkStream(json: Json): void {
  const { stream, stream_options: options } = json
  if (stream !== undefined && stream !== null && typeof stream !== 'boolean') {
    throw badType('stream', 'a boolean')
  }
  if (options !== undefined && options !== null && stream !== true) {
    const message = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
    throw invalid('stream_options', undefined, message)
  }
}

function checkLimits(json: Json, rules: ChatRules): void {
  for (const key of ['max_tokens', 'max_completion_tokens']) {
    const value = json[key]
    if (value === undefined || value === null || isInteger(value, 1)) continue
    throw badType(key, 'an integer of at least 1')
  }
  if (isInteger(json.max_tokens, 1) && isInteger(json.max_completion_tokens, 1)) {
    const message =
      "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."
    throw invalid('max_tokens', 'invalid_parameter_combination', message)
  }
  for (const key of ['user', 'safety_identifier']) {
    const value = json[key]
    if (typeof value !== 'string' || value.length <= 64) continue
    const message = `Invalid '${key}': string too long. Expected a maximum length of 64.`
    throw invalid(key, 'string_above_max_length', message)
  }
  const effort = json.reasoning_effort
  if (effort !== undefined && effort !== null && !rules.efforts.includes(String(effort))) {
    throw badValue('reasoning_effort', effort, rules.efforts)
  }
}

export function chatTurns(json: unknown): Turn[] {
  const messages = isObject(json) ? objects(json.messages) : []
  return messages.map((message) => {
    const role = ROLES[text(message.role)] ?? 'user'
    const calls = Array.isArray(message.tool_calls) || isObject(message.function_call)
    return { role, text: textOfParts(message.content), ...(calls ? { calls: true } : {}) }
  })
}

const ROLES: Record<string, Turn['role']> = {
  system: 'system',
  developer: 'system',
  assistant: 'assistant',
  tool: 'tool',
  function: 'tool',
}

export function chatConversation(json: Json): Conversation {
  const stop = typeof json.stop === 'string' ? [json.stop] : json.stop
  const limit = json.max_completion_tokens ?? json.max_tokens
  return {
    turns: chatTurns(json),
    tools: chatTools(json),
    mayCallTools: (usesFunctions(json) ? json.function_call : json.tool_choice) !== 'none',
    ...(usesFunctions(json) ? { maxCalls: 1 } : {}),
    maxTokens: typeof limit === 'number' ? limit : undefined,
    stop: Array.isArray(stop) ? stop.map(text) : [],
  }
}

/** True if the caller reads one `function_call` instead of `tool_calls`. */
export function usesFunctions({ functions, tools }: Json): boolean {
  return Array.isArray(functions) && !Array.isArray(tools)
}

function chatTools(json: Json): OfferedTool[] {
  if (usesFunctions(json)) return objects(json.functions).map(({ name }) => ({ name: text(name) }))
  return objects(json.tools).map((tool) => {
    const freeform = tool.type === 'custom'
    const body = freeform ? tool.custom : tool.function
    return { name: isObject(body) ? text(body.name) : '', freeform }
  })
}
