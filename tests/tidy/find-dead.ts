/** Files that nothing starts and exports that nobody imports. */
import { posix } from 'node:path'
import { readExports } from './read-imports.ts'
import type { SourceFile } from './read-tree.ts'

const ENTRY_POINTS = [
  /^bin\/[^/]+\.ts$/,
  /^server\/main\.ts$/,
  /^simulators\/main\.ts$/,
  /^console\/(?:src\/main\.tsx|vite\.config\.ts)$/,
  /^scripts\/[^/]+$/,
  /^(?:benchmarks|proofs)\/[^/]+\.ts$/,
  /^tests\/.*\.test\.ts$/,
]

function isEntryPoint(path: string): boolean {
  return ENTRY_POINTS.some((pattern) => pattern.test(path))
}

/**
 * Files that no entry point reaches by imports. A file that another one or package.json names in
 * a text is started as a process of its own.
 */
export function findDeadFiles(sources: readonly SourceFile[], manifest: string): string[] {
  const byPath = new Map(sources.map((source) => [source.path, source]))
  const started = new Set(
    sources
      .filter(({ path }) => !path.startsWith('tests/tidy/'))
      .flatMap(({ masked }) => masked.strings.map(({ text }) => posix.basename(text))),
  )
  const alive = new Set<string>()
  const waiting = [...byPath.keys()].filter(
    (path) => isEntryPoint(path) || manifest.includes(path) || started.has(posix.basename(path)),
  )
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const source = byPath.get(path)
    if (!source || alive.has(path)) continue
    alive.add(path)
    for (const { target } of source.imports) if (target) waiting.push(target)
  }
  return [...byPath.keys()].filter((path) => !alive.has(path))
}

/**
 * Exports that no other file imports: either dead, or private and wrongly exported. A type may be
 * exported because an exported function speaks of it.
 */
export function findDeadExports(sources: readonly SourceFile[]): string[] {
  const used = new Set<string>()
  for (const { imports } of sources) {
    for (const { target, names } of imports) {
      if (target) for (const name of names) used.add(`${target} ${name}`)
    }
  }
  return sources.flatMap(({ path, masked }) =>
    isEntryPoint(path) || used.has(`${path} *`)
      ? []
      : readExports(masked)
          .filter(({ name }) => !used.has(`${path} ${name}`))
          .filter(({ isType, mentions }) => !isType || mentions < 2)
          .map(({ name }) => `${path} exports ${name}, which nothing imports`),
  )
}
