/** Raw bytes that an upstream could send, one file per case. */
import { readdirSync, readFileSync } from 'node:fs'

const FOLDER = new URL('./fixtures/', import.meta.url)

export function fixture(path: string): Buffer {
  return readFileSync(new URL(path, FOLDER))
}

/** The names of all stream fixtures of a dialect, without their ending. */
export function streamFixtures(dialect: string): string[] {
  const files = readdirSync(new URL(`${dialect}/`, FOLDER))
  return files.filter((file) => file.endsWith('.sse')).map((file) => file.slice(0, -4))
}
