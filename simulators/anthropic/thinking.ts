// The rules of extended thinking beside tools, with and without the beta that interleaves them.
import type { IncomingHttpHeaders } from 'node:http'
import { isInteger, isObject, type Json, objects, text } from '../kernel/checks.ts'
import { invalid } from './errors.ts'

const INTERLEAVED = 'interleaved-thinking-2025-05-14'

function isInterleaved(headers: IncomingHttpHeaders): boolean {
  const betas = text(headers['anthropic-beta']).split(',')
  return betas.some((beta) => beta.trim() === INTERLEAVED)
}

export function checkThinking(json: Json, headers: IncomingHttpHeaders): void {
  const { thinking } = json
  if (thinking === undefined) return
  const types = ['enabled', 'disabled', 'adaptive', 'between_tools']
  if (!isObject(thinking) || !types.includes(text(thinking.type))) {
    throw invalid(`thinking: Input tag should be one of '${types.join("', '")}'`)
  }
  if (thinking.type !== 'enabled') return
  if (!isInteger(thinking.budget_tokens, 1024)) {
    throw invalid('thinking.enabled.budget_tokens: Input should be greater than or equal to 1024')
  }
  // Interleaved, the budget is that of all turns between the tools.
  const isShared = isInterleaved(headers) && Array.isArray(json.tools)
  if (!isShared && Number(thinking.budget_tokens) >= Number(json.max_tokens)) {
    throw invalid('`max_tokens` must be greater than `thinking.budget_tokens`')
  }
  checkFirstBlock(objects(json.messages))
}

/** Requires that a turn which waits for the results of its tools begins with its thinking. */
function checkFirstBlock(messages: Json[]): void {
  const index = startOfLoop(messages)
  const [first] = objects(messages[index]?.content)
  if (!first || first.type === 'thinking' || first.type === 'redacted_thinking') return
  throw invalid(
    `messages.${index}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found ` +
      `\`${text(first.type)}\`. When \`thinking\` is enabled, a final \`assistant\` message must ` +
      'start with a thinking block (preceeding the lastmost set of `tool_use` and ' +
      '`tool_result` blocks).',
  )
}

const isResult = ({ content }: Json) => objects(content).some(({ type }) => type === 'tool_result')

/** Returns the first assistant message since a user last spoke; -1 if no results are sent back. */
function startOfLoop(messages: Json[]): number {
  const last = messages.at(-1)
  if (!last || !isResult(last)) return -1
  const spoken = messages.findLastIndex((one) => one.role === 'user' && !isResult(one))
  return messages.findIndex((one, index) => index > spoken && one.role === 'assistant')
}

const isManual = ({ thinking }: Json) => isObject(thinking) && thinking.type === 'enabled'

/** True where the first call of a tool must be preceded by thinking. */
export function mustThink(json: Json): boolean {
  return isManual(json) && startOfLoop(objects(json.messages)) < 0
}

/** False in the middle of a turn: without the beta the model thinks before its first tool only. */
export function mayThink(json: Json, headers: IncomingHttpHeaders): boolean {
  if (!isManual(json) || isInterleaved(headers)) return true
  return startOfLoop(objects(json.messages)) < 0
}
