/** Rewrites tool ids in the alphabet that messages-native vendors accept. */
import { pseudonym } from '../../../base/lib/text/pseudonym.ts'

const FITTING = /^[A-Za-z0-9_-]+$/
const MARK_LENGTH = 8

/** Returns the id if it fits, else a new one: the same for equal ids, distinct for others. */
export function fitToolId(id: string): string {
  if (FITTING.test(id)) return id
  return `${id.replaceAll(/[^A-Za-z0-9_-]/g, '_')}_${pseudonym(id, MARK_LENGTH)}`
}
