/** Reads the options of a messages request that change its price, in its body and beta headers. */
import type { IncomingHttpHeaders } from 'node:http'
import { asString, isAbsent, isObject, type JsonObject, member } from '../../../../base/lib/json.ts'
import type { RequestedFeature } from '../../../../work/pipeline/price/dimensions.ts'
import type { Measure } from './measure.ts'
import {
  CLIENT_TOOL,
  countOf,
  kindOfVendorFunction,
  type PricedOptions,
  type PricedToolKind,
  readCommon,
  readPricedTools,
  TOKEN_TOOL,
  UNKNOWN_TOOL,
  WEB_FETCH,
  WEB_SEARCH,
} from './priced-options.ts'
import { readSearchOptions } from './search-options.ts'
import { readMessagesThinking } from './translated-thinking.ts'

/** Minimum lifetime of a container. */
const SESSION_MINUTES = 5
/** Tokens of an advisor's answer if the tool sets no limit. */
const ADVICE_TOKENS = 4_096

/** Tool types, with or without their trailing date. */
const KINDS: readonly (readonly [RegExp, PricedToolKind])[] = [
  [/^(?:custom|namespace|bash|text_editor|computer|memory|browser)(?:_\d{8})?$/, CLIENT_TOOL],
  [/^web_search_\d{8}$/, WEB_SEARCH],
  [/^web_fetch_\d{8}$/, WEB_FETCH],
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

const ADVISOR = /^advisor(?:_\d{8})?$/

function kindOf(inputTokens: number): (tool: JsonObject) => PricedToolKind {
  return (tool) => {
    const { type } = tool
    const own = kindOfVendorFunction(tool)
    if (own) return own
    if (isAbsent(type)) return typeof tool.name === 'string' ? CLIENT_TOOL : UNKNOWN_TOOL
    if (typeof type !== 'string') return UNKNOWN_TOOL
    if (ADVISOR.test(type)) return advisorOf(tool, inputTokens)
    return KINDS.find(([pattern]) => pattern.test(type))?.[1] ?? UNKNOWN_TOOL
  }
}

/** Estimates an advisor: another model reads the conversation and answers, once per use. */
function advisorOf(tool: JsonObject, inputTokens: number): PricedToolKind {
  const model = asString(tool.model)
  if (model === undefined) return UNKNOWN_TOOL
  const uses = countOf(tool.max_uses) ?? 1
  const work = {
    input_token: Math.min(inputTokens * uses, 2 ** 50),
    output_token: Math.min((countOf(tool.max_tokens) ?? ADVICE_TOKENS) * uses, 2 ** 50),
  }
  return { isHosted: true, feature: { facts: { model }, work } }
}

export function readMessagesOptions(
  value: JsonObject,
  headers: IncomingHttpHeaders,
  measure: Measure,
  inputTokens: number,
): PricedOptions {
  const options = readCommon(value, measure, { isDropped: true })
  options.translatedThinking = readMessagesThinking(value)
  readPricedTools(options, value, kindOf(inputTokens))
  readSearchOptions(options, value, { isDropped: true })
  readFallbacks(options, value.fallbacks)
  // Answers in this format do not state which of the models answered.
  if (Array.isArray(value.models)) options.features.push({ field: 'models', value: 'other models' })
  if (mayRepeat(value)) options.isHosted = true
  if (!isAbsent(value.fallback_credit_token)) {
    options.features.push({ field: 'fallback_credit_token', value: 'a credit' })
  }
  readBetas(options, headers['anthropic-beta'])
  return options
}

/** Returns true if the vendor may call the model again, after editing the context or for MCP. */
function mayRepeat({ context_management: management, mcp_servers: servers }: JsonObject): boolean {
  if (!isAbsent(servers)) return true
  if (isAbsent(management)) return false
  const edits = member(management, 'edits')
  if (!Array.isArray(edits)) return true
  return !edits.every((edit) => /^clear_/.test(asString(member(edit, 'type')) ?? ''))
}

/** Reads the models that answer if the requested one declines, each at its own price. */
function readFallbacks(options: PricedOptions, fallbacks: unknown): void {
  if (isAbsent(fallbacks)) return
  options.isHosted = true
  const list = Array.isArray(fallbacks) ? fallbacks : [fallbacks]
  for (const [index, one] of list.entries()) {
    const model = asString(isObject(one) ? one.model : undefined)
    const field = Array.isArray(fallbacks) ? `fallbacks[${index}]` : 'fallbacks'
    if (model === undefined) {
      options.features.push({ field, value: asString(one) ?? 'no model' })
      continue
    }
    options.models.push(model)
    options.features.push({ field: `${field}.model`, value: model, facts: { model } })
  }
}

/**
 * Betas that change the price of a call. The body names the advising or fallback model, so its
 * header only requires any price of another model.
 */
const BETAS: readonly (readonly [RegExp, Pick<RequestedFeature, 'facts' | 'isOfAnyModel'>])[] = [
  [/^fast-mode(?:-|$)/, { facts: { speed: 'fast' } }],
  [/^(?:advisor-tool|server-side-fallback)(?:-|$)/, { isOfAnyModel: true }],
  [/^fallback-credit(?:-|$)/, {}],
]

function readBetas(options: PricedOptions, header: string | string[] | undefined): void {
  if (header === undefined) return
  for (const text of String(header).split(',')) {
    const value = text.trim().toLowerCase()
    const beta = BETAS.find(([pattern]) => pattern.test(value))?.[1]
    if (beta) options.features.push({ ...beta, field: 'anthropic-beta', value })
  }
}
