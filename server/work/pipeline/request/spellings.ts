/** Refuses member names in another letter case: some vendors accept, and bill, them anyway. */

import { invalidField } from '../../../base/lib/errors.ts'
import { foldKey } from '../../../wire/dialects/json-scan.ts'
import type { Body } from '../metering.ts'

/** The right spelling of each name, by its folded form. */
export type Spellings = ReadonlyMap<string, string>

export function listSpellings(names: readonly string[]): Spellings {
  return new Map(names.map((name) => [foldKey(name), name]))
}

/**
 * Throws a 400 that names the first member whose name differs from a known one only in case; `at`
 * is the path of the object, if it is not the request itself.
 */
export function refuseOtherCase(value: Body, spellings: Spellings, at?: string): void {
  for (const name of Object.keys(value)) {
    if (spellings.get(name) === name) continue
    const known = spellings.get(foldKey(name))
    if (known !== undefined && known !== name) {
      throw invalidField(at ? `${at}.${name}` : name, `the name of this field is '${known}'`)
    }
  }
}
