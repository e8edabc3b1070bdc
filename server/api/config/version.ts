/** The version of this program, from package.json. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { member, tryParseJson } from '../../base/lib/json.ts'

export function readVersion(): string {
  const path = join(import.meta.dirname, '..', '..', '..', 'package.json')
  return String(member(tryParseJson(readFileSync(path)), 'version'))
}
