/** Betas that clouds take: one that they do not know is a 400 for the whole request. */
import { nameBetas } from './betas.ts'

/** Whole values, as the vendor compares them (docs/protocols/bedrock.md#betas). */
const TAKEN: ReadonlySet<string> = new Set([
  'claude-code-20250219',
  'computer-use-2024-10-22',
  'computer-use-2025-01-24',
  'computer-use-2025-11-24',
  'context-1m-2025-08-07',
  'context-management-2025-06-27',
  'effort-2025-11-24',
  'fine-grained-tool-streaming-2025-05-14',
  'interleaved-thinking-2025-05-14',
  'output-128k-2025-02-19',
  'structured-outputs-2025-12-15',
  'token-efficient-tools-2025-02-19',
  'tool-examples-2025-10-29',
  'tool-search-tool-2025-10-19',
])
const TAKEN_FAMILY = /^dev-full-thinking-\d{4}-\d{2}-\d{2}$/
/** The vendor's own API has one beta for what are two here. */
const BY_ANOTHER_NAME: ReadonlyMap<string, readonly string[]> = new Map([
  ['advanced-tool-use-2025-11-20', ['tool-search-tool-2025-10-19', 'tool-examples-2025-10-29']],
])

/** `stated` is a header with commas, or the body's list. */
export function selectBetas(stated: unknown, allowed: readonly string[]) {
  const list = typeof stated === 'string' ? stated.split(',') : Array.isArray(stated) ? stated : []
  const values = list.flatMap((value) => (typeof value === 'string' ? [value.trim()] : []))
  const forwarded = new Set<string>()
  const ignored = new Set<string>()
  for (const value of values.filter((one) => one !== '')) {
    const isTaken = TAKEN.has(value) || TAKEN_FAMILY.test(value) || allowed.includes(value)
    const names = isTaken ? [value] : BY_ANOTHER_NAME.get(value)
    if (names) for (const name of names) forwarded.add(name)
    else ignored.add(value)
  }
  return { forwarded: [...forwarded], ignored: nameBetas({ ignored: [...ignored] }) }
}
