/** The built console on disk: read once, and again after a new build. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'

export interface ConsoleFile {
  readonly type: string
  /** Bodies by content encoding, as compressed by the build. */
  readonly bodies: Readonly<Partial<Record<Encoding, Buffer>>> & { readonly identity: Buffer }
}

export type Encoding = 'identity' | 'gzip' | 'br'

export interface ConsoleBuild {
  /** The page, with the placeholder CSP_NONCE. */
  readonly page: string
  /** Files by path below /console/. */
  readonly files: ReadonlyMap<string, ConsoleFile>
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
}
const PAGE = 'index.html'

/** Resolves to undefined if there is no build. */
export function openConsoleFiles(folder: string): () => Promise<ConsoleBuild | undefined> {
  let known: { readonly builtAtMs: number; readonly build: Promise<ConsoleBuild> } | undefined
  return async function read() {
    const found = await stat(join(folder, PAGE)).catch(() => undefined)
    if (!found) return undefined
    if (known?.builtAtMs !== found.mtimeMs) {
      known = { builtAtMs: found.mtimeMs, build: readBuild(folder) }
    }
    return known.build.catch(() => {
      // A build may be in progress: the next request reads again.
      known = undefined
      return undefined
    })
  }
}

async function readBuild(folder: string): Promise<ConsoleBuild> {
  const names = (await readdir(folder, { recursive: true })).map((name) =>
    name.replaceAll('\\', '/'),
  )
  const files = new Map<string, ConsoleFile>()
  for (const name of names) {
    const type = TYPES[extname(name)]
    if (type) files.set(name, { type, bodies: await readBodies(join(folder, name)) })
  }
  return { page: await readFile(join(folder, PAGE), 'utf8'), files }
}

async function readBodies(path: string): Promise<ConsoleFile['bodies']> {
  const optional = (name: string) => readFile(name).catch(() => undefined)
  const [identity, br, gzip] = await Promise.all([
    readFile(path),
    optional(`${path}.br`),
    optional(`${path}.gz`),
  ])
  return { identity, br, gzip }
}
