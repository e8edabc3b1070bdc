/**
 * One word, one meaning: an exported name stands for one thing. A list of kinds or states stands
 * once, too: another copy is forgotten when the list grows.
 */
import * as LISTS from '../../server/base/lib/kinds-and-states.ts'
import { readExports } from './read-imports.ts'
import { lineOf, type SourceFile } from './read-tree.ts'
import { SHARED_NAMES } from './rules.ts'

const PLACES = /^(?:server|bin|console\/src)\//

/** Names that more than one file of server/, bin/ and console/src exports, types included. */
export function checkUniqueNames(sources: readonly SourceFile[]): string[] {
  const declared = new Map<string, Set<string>>()
  for (const { path, masked } of sources) {
    if (!PLACES.test(path)) continue
    for (const { name } of readExports(masked)) {
      declared.set(name, (declared.get(name) ?? new Set()).add(path))
    }
  }
  return [...declared]
    .filter(([name, paths]) => paths.size > 1 && !isShared(name, [...paths]))
    .map(([name, paths]) => `${name} is exported by ${[...paths].join(', ')}`)
}

/** Whether a convention gives each of these files the name. */
function isShared(name: string, paths: readonly string[]): boolean {
  return SHARED_NAMES.some(
    (shared) => shared.names.has(name) && paths.every((path) => shared.place.test(path)),
  )
}

const HOME = 'server/base/lib/kinds-and-states.ts'
const READERS = /^(?:server\/(?!wire\/)|bin\/|console\/src\/)/
/** Arrays, and unions of texts. */
const WRITTEN = /\[[^[\]{}()]*\]|'[\w.]+'(?:\s*\|\s*'[\w.]+')+/g
const SHORTEST = 3

const keyOf = (names: readonly string[]) => [...new Set(names)].sort().join(' ')

const KNOWN: ReadonlyMap<string, string> = new Map(
  Object.entries(LISTS).flatMap(([name, list]) => {
    return Array.isArray(list) && list.length >= SHORTEST ? [[keyOf(list), name] as const] : []
  }),
)

/** Finds lists and unions that have the members of a shared list, in whatever order. */
export function checkLists(sources: readonly Pick<SourceFile, 'path' | 'text'>[]): string[] {
  return sources
    .filter(({ path }) => READERS.test(path) && path !== HOME)
    .flatMap(({ path, text }) =>
      [...text.matchAll(WRITTEN)].flatMap(({ 0: written, index }) => {
        const names = [...written.matchAll(/'([^'\n]*)'/g)].map(([, name = '']) => name)
        const known = KNOWN.get(keyOf(names))
        return known ? [`${path}:${lineOf(text, index)} writes ${known} again`] : []
      }),
    )
}
