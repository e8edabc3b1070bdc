// Refusals of the Messages endpoint in its own words, except for the order of messages.
import { isInteger, isNumber, isObject, type Json, text } from '../kernel/checks.ts'
import { invalid } from './errors.ts'
import { checkMessages } from './messages.ts'

const KEYS = new Set(
  (
    'model max_tokens messages system stop_sequences stream temperature top_p top_k thinking ' +
    'tools tool_choice metadata service_tier cache_control container output_config ' +
    'inference_geo speed diagnostics user_profile_id workspace_id context_management ' +
    'mcp_servers safeguards output_format betas'
  ).split(' '),
)

const COUNT_KEYS = new Set(
  (
    'model messages system thinking tools tool_choice cache_control output_config ' +
    'context_management mcp_servers output_format betas safeguards'
  ).split(' '),
)

export function checkMessagesRequest(json: unknown): asserts json is Json {
  checkCommon(json, KEYS)
  if (json.max_tokens === undefined) throw invalid('max_tokens: Field required')
  if (!isInteger(json.max_tokens, 1)) {
    throw invalid('max_tokens: Input should be greater than or equal to 1')
  }
  checkSampling(json)
  const { metadata, stream } = json
  if (stream !== undefined && typeof stream !== 'boolean') {
    throw invalid('stream: Input should be a valid boolean')
  }
  if (metadata !== undefined && !isObject(metadata)) {
    throw invalid('metadata: Input should be a valid dictionary')
  }
}

export function checkCountRequest(json: unknown): asserts json is Json {
  checkCommon(json, COUNT_KEYS)
}

function checkCommon(json: unknown, keys: Set<string>): asserts json is Json {
  if (!isObject(json)) throw invalid('Input should be a valid dictionary')
  for (const key in json) {
    if (!keys.has(key)) throw invalid(`${key}: Extra inputs are not permitted`)
  }
  if (json.model === undefined) throw invalid('model: Field required')
  if (typeof json.model !== 'string') throw invalid('model: Input should be a valid string')
  checkSystem(json.system)
  checkTools(json.tools)
  checkToolChoice(json)
  checkMessages(json.messages)
}

function checkSystem(system: unknown): void {
  if (system === undefined || typeof system === 'string') return
  if (!Array.isArray(system)) throw invalid('system: Input should be a valid list')
  for (const [index, block] of system.entries()) {
    const at = `system.${index}`
    if (!isObject(block) || block.type !== 'text') {
      throw invalid(`${at}.type: Input should be 'text'`)
    }
    if (text(block.text) === '') throw invalid('system: text content blocks must be non-empty')
  }
}

function checkTools(tools: unknown): void {
  if (tools === undefined || tools === null) return
  if (!Array.isArray(tools)) throw invalid('tools: Input should be a valid list')
  for (const [index, tool] of tools.entries()) {
    const at = `tools.${index}`
    if (!isObject(tool)) throw invalid(`${at}: Input should be a valid dictionary`)
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(text(tool.name))) {
      throw invalid(`${at}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`)
    }
    if (tool.type !== undefined && tool.type !== 'custom') continue
    if (!isObject(tool.input_schema)) throw invalid(`${at}.custom.input_schema: Field required`)
    if (tool.input_schema.type !== 'object') {
      throw invalid(`${at}.custom.input_schema.type: Input should be 'object'`)
    }
  }
}

function checkToolChoice(json: Json): void {
  const choice = json.tool_choice
  if (choice === undefined || choice === null) return
  if (!isObject(choice) || !['auto', 'any', 'tool', 'none'].includes(text(choice.type))) {
    throw invalid("tool_choice: Input tag should be one of 'auto', 'any', 'tool', 'none'")
  }
  if (choice.type === 'tool' && typeof choice.name !== 'string') {
    throw invalid('tool_choice.tool.name: Field required')
  }
  if (choice.type !== 'none' && !Array.isArray(json.tools)) {
    throw invalid('tool_choice: may only be specified while providing tools')
  }
}

function checkSampling(json: Json): void {
  const ranges: [string, number, number][] = [
    ['temperature', 0, 1],
    ['top_p', 0, 1],
    ['top_k', 0, 500],
  ]
  for (const [key, low, high] of ranges) {
    if (json[key] === undefined || isNumber(json[key], low, high)) continue
    throw invalid(`${key}: Input should be between ${low} and ${high}`)
  }
  const stops = json.stop_sequences
  if (stops === undefined) return
  if (!Array.isArray(stops)) throw invalid('stop_sequences: Input should be a valid list')
  if (stops.some((stop) => text(stop).trim() === '')) {
    throw invalid('stop_sequences: each stop sequence must contain non-whitespace')
  }
}
