/** Reads the options for an answer's usage from a request of OpenAI's API. Pure. */

import { asString, isAbsent, type JsonObject, member } from '../../../base/lib/json.ts'
import type { ChatUsageOptions } from '../../dialects/chat/read-usage.ts'
import { readWriteLifetime, type WriteLifetime } from '../../dialects/usage/write-lifetime.ts'

/** The vendor's default for images within a response (docs/protocols/openai.md#hosted-tools). */
const IMAGE_MODEL = 'gpt-image-1'

/** Models that search for each answer, also for requests that do not ask for it. */
const SEARCH_MODEL = /-search-(?:preview|api)|(?:^|\/)sonar(?:-|$)/

export const searchesAlways = (upstreamModel: string) => SEARCH_MODEL.test(upstreamModel)

const isOn = (option: unknown) => !isAbsent(option) && option !== false

/** `upstreamModel` is the vendor's name of the requested model, where others may stand in. */
export function readChatUsageOptions(
  value: Readonly<Record<string, unknown>>,
  upstreamModel?: string,
): ChatUsageOptions {
  const isCertain =
    isOn(value.web_search_options) ||
    searchesAlways(upstreamModel ?? '') ||
    (isOn(value.enable_search) && isOn(member(value.search_options, 'forced_search')))
  return {
    imageModel: readImageModel(value.tools),
    asksForSearch: isCertain || isOn(value.enable_search) || offersSearch(value.tools),
    billsSearch: isCertain,
    ...(upstreamModel === undefined ? {} : readStandIns(value.models, upstreamModel)),
    writeLifetime: () => readLifetime(value),
  }
}

/** Options for a request of another dialect, in which no translation uses what the options read. */
export function readTranslatedOptions(upstreamModel: string): ChatUsageOptions {
  return readChatUsageOptions({}, upstreamModel)
}

/** A tool of the vendor that searches, with or without a prefix or a date. */
const SEARCH_TOOL = /^(?:[a-z]+:)?web_search/

function offersSearch(tools: unknown): boolean {
  const list: readonly unknown[] = Array.isArray(tools) ? tools : []
  return list.some((tool) => SEARCH_TOOL.test(asString(member(tool, 'type')) ?? ''))
}

/** Reads the lifetime of all writes, else that of marked content. */
function readLifetime(value: JsonObject): WriteLifetime | undefined {
  const lifetime = member(value.prompt_cache_options, 'ttl')
  return lifetime === '5m' || lifetime === '1h' ? lifetime : readWriteLifetime(value)
}

/** Reads the models with which a router may serve the request in place of the requested one. */
function readStandIns(models: unknown, requestedModel: string): Pick<ChatUsageOptions, 'routing'> {
  const list: readonly unknown[] = Array.isArray(models) ? models : []
  const standIns = list.filter((one) => typeof one === 'string')
  return standIns.length > 0 ? { routing: { requestedModel, standIns } } : {}
}

/** Returns undefined for tools of several models: the answer does not name the one it used. */
function readImageModel(tools: unknown): string | undefined {
  const list: readonly unknown[] = Array.isArray(tools) ? tools : []
  const imageTools = list.filter((one) => member(one, 'type') === 'image_generation')
  const models = new Set(imageTools.map((tool) => asString(member(tool, 'model')) ?? IMAGE_MODEL))
  return models.size > 1 ? undefined : ([...models][0] ?? IMAGE_MODEL)
}
