/** How long a recording is at most: what the hold must cover, whoever transcribes it. */
import type { JsonObject } from '../lib/json.ts'

/** The longest that the products take. */
const SECONDS_MAX = 7200

/** As it was measured before the order, else the longest. */
export function readSeconds({ recording_seconds: measured }: JsonObject): number {
  return typeof measured === 'number' && measured > 0 ? Math.ceil(measured) : SECONDS_MAX
}
