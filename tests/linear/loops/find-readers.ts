/**
 * Finds the functions that read what callers and vendors send: those that the sources export and
 * whose first parameter is bytes, text or a document, and the makers of relays.
 */
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { listFiles, ROOT } from '../../tidy/read-tree.ts'

export type AnyFunction = (...values: unknown[]) => unknown
export type Takes = 'bytes' | 'text' | 'value' | 'chunks' | 'frames'

export interface Reader {
  readonly place: string
  readonly takes: Takes
  readonly run: AnyFunction
}

/** Folders, and single files. */
const PLACES = [
  'server/wire/dialects/',
  'server/wire/upstreams/anthropic/',
  'server/wire/upstreams/rerank/',
  'server/api/endpoints/text/',
  'server/base/lib/text/shorten-json.ts',
  'server/base/lib/json/json-string.ts',
  'server/base/lib/json/large-json.ts',
]
const TYPES: Readonly<Record<string, Takes>> = {
  Buffer: 'bytes',
  string: 'text',
  unknown: 'value',
  JsonObject: 'value',
  Body: 'value',
  'readonly unknown[]': 'value',
  'readonly JsonObject[]': 'value',
  'Readonly<Record<string, unknown>>': 'value',
}
const BY_NAME: Readonly<Record<string, Takes>> = { createFrameDecoder: 'frames', unframe: 'frames' }
const EXPORTED =
  /^export function\*? (\w+)(?:<[^(]{0,80}>)?\(\s*(?:[\w{},\s]{1,80}?\??:\s*([^=,)]{1,60}))?/gm

/** Returns them without those in `leftOut`. Rejects where that names what does not exist. */
export async function findReaders(
  leftOut: Readonly<Record<string, string>>,
): Promise<readonly Reader[]> {
  const unused = new Set(Object.keys(leftOut))
  const found: Reader[] = []
  for (const path of listFiles('server')) {
    if (!path.endsWith('.ts') || !PLACES.some((place) => path.startsWith(place))) continue
    const source = readFileSync(`${ROOT}/${path}`, 'utf8')
    let module: object | undefined
    for (const [, name = '', type = ''] of source.matchAll(EXPORTED)) {
      unused.delete(name)
      const takes =
        BY_NAME[name] ?? TYPES[type.trim()] ?? (/^create/.test(name) ? 'chunks' : undefined)
      if (!takes || leftOut[name] !== undefined) continue
      module ??= await import(pathToFileURL(`${ROOT}/${path}`).href)
      const run = Reflect.get(module as object, name) as AnyFunction
      found.push({ place: `${path} ${name}`, takes, run })
    }
  }
  if (unused.size > 0) throw new Error(`no such functions: ${[...unused].join(', ')}`)
  return found
}
