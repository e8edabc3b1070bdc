/**
 * Distinguishes items of a Responses request whose content is all in the body from those that the
 * vendor stores.
 */
import { isAbsent, type JsonObject } from '../../../../base/lib/json.ts'

/** Members with the content of an item, whatever its type. */
const CONTENT = [
  'content',
  'encrypted_content',
  'arguments',
  'input',
  'output',
  'action',
  'actions',
  'operation',
  'tools',
  'result',
  'results',
  'queries',
  'code',
  'outputs',
  'approve',
  'error',
]
/** The summary of reasoning is not what the model reads again. */
const OF_REASONING = ['content', 'encrypted_content']
/** An output of this kind may be empty. */
const OF_PATCH = [...CONTENT, 'call_id']

/** `stored`: the item refers to what the vendor has stored under its id. */
export type ItemContent = 'own' | 'empty' | 'stored'

export function judgeContent(item: JsonObject): ItemContent {
  const { type, role } = item
  if (type === 'item_reference') return 'stored'
  if (isAbsent(type) && isAbsent(role)) return 'stored'
  const found = contentOf(type)
    .map((name) => item[name])
    .filter((one) => !isAbsent(one))
  if (found.length === 0) return 'stored'
  return found.every(isEmpty) ? 'empty' : 'own'
}

function isEmpty(content: unknown): boolean {
  return content === '' || (Array.isArray(content) && content.length === 0)
}

function contentOf(type: unknown): readonly string[] {
  if (type === 'reasoning') return OF_REASONING
  return type === 'apply_patch_call_output' ? OF_PATCH : CONTENT
}
