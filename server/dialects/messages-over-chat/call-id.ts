/** Shortens ids of tool calls: OpenAI's chat refuses those of more than 40 characters. */
import { pseudonym } from '../../lib/text/pseudonym.ts'

const ID_LENGTH_MAX = 40
const MARK_LENGTH = 8

/** Returns the id if it fits, else one that depends on it alone, so that results match. */
export function fitCallId(id: string): string {
  if (id.length <= ID_LENGTH_MAX) return id
  return `${id.slice(0, ID_LENGTH_MAX - MARK_LENGTH - 1)}_${pseudonym(id, MARK_LENGTH)}`
}
