/** Rewrites tool ids in the alphabet that messages-native vendors accept. */
import { pseudonym } from '../../../base/lib/text/pseudonym.ts'

const FITTING = /^[A-Za-z0-9_-]+$/
const MARK_LENGTH = 8
/** Some clients put signatures of some kilobytes into ids. See `expectName` for longer texts. */
const LENGTH_MAX = 8_192
const LONG_MARK_LENGTH = 43

/** Returns the id if it fits, else a new one: the same for equal ids, distinct for others. */
export function fitToolId(id: string): string {
  const fitting = FITTING.test(id)
    ? id
    : `${id.replaceAll(/[^A-Za-z0-9_-]/g, '_')}_${pseudonym(id, MARK_LENGTH)}`
  return fitting.length > LENGTH_MAX ? `toolu_${pseudonym(id, LONG_MARK_LENGTH)}` : fitting
}
