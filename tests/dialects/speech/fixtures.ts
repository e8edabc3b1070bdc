/** Raw bodies of the speech dialect, kept as files. */
import { readFileSync } from 'node:fs'

export function readFixture(name: string): Buffer {
  return readFileSync(new URL(`fixtures/${name}.ndjson`, import.meta.url))
}
