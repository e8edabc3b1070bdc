/** Names of vendor-run tools without what vendors add to them. */
import { isObject } from '../../../../base/lib/json.ts'
import { nameOfTool } from './tool-lists.ts'

/**
 * No vendor uses a longer tool name. A set would compare each long one with all others of its
 * length that were looked up before.
 */
const LENGTH_MAX = 64
const DATE = /_\d[\d_]{0,15}$/
/** Options that let a vendor search. */
const SEARCHES: ReadonlySet<string> = new Set([
  'web_search_options',
  'enable_search',
  'search_parameters',
])

/**
 * Returns `web_search` for `web_search_20250305`, `web_search_preview_2025_03_11`,
 * `openrouter:web_search` and `$web_search`.
 */
export function toolFamily(name: string): string {
  const short = name.slice(0, LENGTH_MAX)
  if (SEARCHES.has(short)) return 'web_search'
  const own = short.slice(short.indexOf(':') + 1)
  return own
    .replace(/^\$/, '')
    .replace(DATE, '')
    .replace(/_preview$/, '')
}

/** The tools that vendors bill, by which statistics are kept; all others are `other`. */
const BILLED: ReadonlySet<string> = new Set([
  'advisor',
  'code_execution',
  'code_interpreter',
  'collections_search',
  'file_search',
  'image_generation',
  'shell',
  'web_extractor',
  'web_fetch',
  'web_search',
  'x_search',
])

/** Returns the family of a tool, or `other`: callers cannot add to the number of kinds. */
export function kindOfTool(name: string): string {
  const family = toolFamily(name)
  return BILLED.has(family) ? family : 'other'
}

/** Tools that the caller runs, whose names are its own. */
const OWN: readonly unknown[] = ['function', 'custom', 'namespace']

/** Returns the families of a tool, or of a choice of a tool, by its type and by its own name. */
export function familiesOf(tool: unknown): string[] {
  if (!isObject(tool)) return []
  const named = nameOfTool(tool)
  if (OWN.includes(named)) return [String(named)]
  const names = [named, tool.name]
  return names.filter((name) => typeof name === 'string').map(toolFamily)
}

const ENDING = /_(?:tool_result|call_output|call|output|result)$/
const COMMANDS = /^(?:bash|text_editor)_(?=code_execution$)/

/** Returns the family of a tool by the type or name of what it leaves in a conversation. */
export function familyOfTrace(name: string): string {
  const short = name.slice(0, LENGTH_MAX).replace(ENDING, '')
  return toolFamily(short.replace(COMMANDS, ''))
}
