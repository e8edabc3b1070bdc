/** What a messages request asks for that changes its price, in its body and its beta headers. */
import type { IncomingHttpHeaders } from 'node:http'
import { asString, isObject, type JsonObject, member } from '../../../lib/json.ts'
import type { RequestedFeature } from '../../../pipeline/price/dimensions.ts'
import type { Measure } from './measure.ts'
import {
  type Asking,
  CLIENT_TOOL,
  countOf,
  createAsking,
  isAbsent,
  type PricedToolKind,
  readCommon,
  readPricedTools,
  TOKEN_TOOL,
  UNKNOWN_TOOL,
} from './priced-options.ts'

/** A container lives for this long, at least. */
const SESSION_MINUTES = 5
/** An adviser's answer where the tool sets no limit. */
const ADVICE_TOKENS = 4_096

/** Tool types, with or without the date that ends them. */
const KINDS: readonly (readonly [RegExp, PricedToolKind])[] = [
  [/^(?:custom|bash|text_editor|computer|memory|browser)(?:_\d{8})?$/, CLIENT_TOOL],
  [/^web_search_\d{8}$/, { isHosted: true, feature: { unit: 'web_search_call' } }],
  [/^web_fetch_\d{8}$/, { isHosted: true, feature: { unit: 'web_fetch_call' } }],
  [
    /^code_execution_\d{8}$/,
    {
      isHosted: true,
      feature: { unit: 'container_minute' },
      each: SESSION_MINUTES,
      isOnce: true,
    },
  ],
  [/^tool_search_tool_(?:regex|bm25)(?:_\d{8})?$/, TOKEN_TOOL],
  [/^mcp_toolset$/, TOKEN_TOOL],
]

const ADVISER = /^advisor(?:_\d{8})?$/

function kindOf(inputTokens: number): (tool: JsonObject) => PricedToolKind {
  return (tool) => {
    const { type } = tool
    if (isAbsent(type)) return typeof tool.name === 'string' ? CLIENT_TOOL : UNKNOWN_TOOL
    if (typeof type !== 'string') return UNKNOWN_TOOL
    if (ADVISER.test(type)) return adviserOf(tool, inputTokens)
    return KINDS.find(([pattern]) => pattern.test(type))?.[1] ?? UNKNOWN_TOOL
  }
}

/** Another model reads the conversation and answers, as often as the tool may be used. */
function adviserOf(tool: JsonObject, inputTokens: number): PricedToolKind {
  const model = asString(tool.model)
  if (model === undefined) return UNKNOWN_TOOL
  const uses = countOf(tool.max_uses) ?? 1
  const work = {
    input_token: Math.min(inputTokens * uses, 2 ** 50),
    output_token: Math.min((countOf(tool.max_tokens) ?? ADVICE_TOKENS) * uses, 2 ** 50),
  }
  return { isHosted: true, feature: { facts: { model }, work } }
}

export function readMessagesAsking(
  value: JsonObject,
  headers: IncomingHttpHeaders,
  measure: Measure,
  inputTokens: number,
): Asking {
  const asking = createAsking()
  readCommon(asking, value, measure)
  readPricedTools(asking, value.tools, 'tools', kindOf(inputTokens), undefined)
  readFallbacks(asking, value.fallbacks)
  // Which model answered is not told in this format as far as it is read.
  if (Array.isArray(value.models)) asking.features.push({ field: 'models', value: 'other models' })
  if (mayRepeat(value)) asking.isHosted = true
  if (!isAbsent(value.fallback_credit_token)) {
    asking.features.push({ field: 'fallback_credit_token', value: 'a credit' })
  }
  readBetas(asking, headers['anthropic-beta'])
  return asking
}

/** A vendor that shortens the conversation, or asks other servers, calls the model again. */
function mayRepeat({ context_management: management, mcp_servers: servers }: JsonObject): boolean {
  if (!isAbsent(servers)) return true
  if (isAbsent(management)) return false
  const edits = member(management, 'edits')
  if (!Array.isArray(edits)) return true
  return !edits.every((edit) => /^clear_/.test(asString(member(edit, 'type')) ?? ''))
}

/** Models that answer when the one asked for declines, each at its own price. */
function readFallbacks(asking: Asking, fallbacks: unknown): void {
  if (isAbsent(fallbacks)) return
  asking.isHosted = true
  const list = Array.isArray(fallbacks) ? fallbacks : [fallbacks]
  for (const [index, one] of list.entries()) {
    const model = asString(isObject(one) ? one.model : undefined)
    const field = Array.isArray(fallbacks) ? `fallbacks[${index}]` : 'fallbacks'
    if (model === undefined) {
      asking.features.push({ field, value: asString(one) ?? 'no model' })
      continue
    }
    asking.models.push(model)
    asking.features.push({ field: `${field}.model`, value: model, facts: { model } })
  }
}

/**
 * Betas that change the price of a call. Which model advises or stands in is said by the body; the
 * header needs any price of another model.
 */
const BETAS: readonly (readonly [RegExp, Pick<RequestedFeature, 'facts' | 'isOfAnyModel'>])[] = [
  [/^fast-mode(?:-|$)/, { facts: { speed: 'fast' } }],
  [/^(?:advisor-tool|server-side-fallback)(?:-|$)/, { isOfAnyModel: true }],
  [/^fallback-credit(?:-|$)/, {}],
]

function readBetas(asking: Asking, header: string | string[] | undefined): void {
  if (header === undefined) return
  for (const text of String(header).split(',')) {
    const value = text.trim().toLowerCase()
    const beta = BETAS.find(([pattern]) => pattern.test(value))?.[1]
    if (beta) asking.features.push({ ...beta, field: 'anthropic-beta', value })
  }
}
