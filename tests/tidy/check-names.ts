/** One word, one meaning: an exported name stands for one thing. */
import { readExports } from './read-imports.ts'
import type { SourceFile } from './read-tree.ts'
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
