/** Reads the repository from the disk, as it lies there: also what is not committed yet. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type MaskedSource, maskSource } from './mask-source.ts'
import { type Import, readImports } from './read-imports.ts'

export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const SKIPPED = new Set(['node_modules', '.git', 'data', 'dist', 'coverage'])

export interface SourceFile {
  /** Relative to the repository, with forward slashes. */
  readonly path: string
  readonly text: string
  readonly masked: MaskedSource
  readonly imports: readonly ResolvedImport[]
}

export interface ResolvedImport extends Import {
  /** The file of this repository it names; undefined for packages and `node:` modules. */
  readonly target: string | undefined
}

/** Every file's path, sorted. */
export function listFiles(folder = ''): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true })
    .filter((entry) => !SKIPPED.has(entry.name))
    .flatMap((entry) => {
      const path = posix.join(folder, entry.name)
      if (entry.isDirectory()) return listFiles(path)
      return entry.isFile() ? [path] : []
    })
    .sort()
}

export function readText(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

export function readSources(paths: readonly string[]): SourceFile[] {
  return paths
    .filter((path) => /\.(ts|tsx|mjs)$/.test(path))
    .map((path) => {
      const text = readText(path)
      const masked = maskSource(text)
      return { path, text, masked, imports: readImports(masked).map((one) => resolve(path, one)) }
    })
}

function resolve(path: string, found: Import): ResolvedImport {
  const isLocal = found.specifier.startsWith('.')
  const target = isLocal ? posix.join(posix.dirname(path), found.specifier) : undefined
  return { ...found, target }
}

/** 1-based line of a position. */
export function lineOf(text: string, position: number): number {
  return text.slice(0, position).split('\n').length
}
