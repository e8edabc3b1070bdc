/** Raw bodies of the Responses dialect, kept as files. */
import { readdirSync, readFileSync } from 'node:fs'

const FOLDER = new URL('fixtures/', import.meta.url)

export function readFixture(name: string): Buffer {
  return readFileSync(new URL(`${name}.sse`, FOLDER))
}

export function fixtureNames(): string[] {
  return readdirSync(FOLDER).map((file) => file.replace('.sse', ''))
}
