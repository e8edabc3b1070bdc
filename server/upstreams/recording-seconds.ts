/** The length of a recording that the hold must cover, for each vendor alike. */
import type { JsonObject } from '../lib/json.ts'

/** Seconds of the longest recording that the products take. */
export const RECORDING_SECONDS_MAX = 7200

/** Returns the measured length in seconds, rounded up, else the longest. */
export function readSeconds({ recording_seconds: measured }: JsonObject): number {
  return typeof measured === 'number' && measured > 0 ? Math.ceil(measured) : RECORDING_SECONDS_MAX
}
