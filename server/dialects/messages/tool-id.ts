/** Tool ids in the one alphabet that messages-native vendors take. */
import { pseudonym } from '../../lib/text/pseudonym.ts'

const FITTING = /^[A-Za-z0-9_-]+$/
const MARK_LENGTH = 8

/** The id itself when it fits; else always the same new one, different for different ids. */
export function fitToolId(id: string): string {
  if (FITTING.test(id)) return id
  return `${id.replaceAll(/[^A-Za-z0-9_-]/g, '_')}_${pseudonym(id, MARK_LENGTH)}`
}
