/** The built console as it lies on the disk: read once, and again when it was built anew. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'

export interface ConsoleFile {
  readonly type: string
  /** By content encoding: what the build has compressed. */
  readonly bodies: Readonly<Partial<Record<Encoding, Buffer>>> & { readonly identity: Buffer }
}

export type Encoding = 'identity' | 'gzip' | 'br'

export interface ConsoleBuild {
  /** The one page, with CSP_NONCE where a nonce belongs. */
  readonly page: string
  /** By path below /console/. */
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

/** Answers undefined where there is no build. */
export function openConsoleFiles(folder: string): () => Promise<ConsoleBuild | undefined> {
  let known: { readonly builtAtMs: number; readonly build: Promise<ConsoleBuild> } | undefined
  return async function read() {
    const found = await stat(join(folder, PAGE)).catch(() => undefined)
    if (!found) return undefined
    if (known?.builtAtMs !== found.mtimeMs) {
      known = { builtAtMs: found.mtimeMs, build: readBuild(folder) }
    }
    return known.build.catch(() => {
      // A build that is being written: the next request reads it whole.
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
  return { identity, ...(br ? { br } : {}), ...(gzip ? { gzip } : {}) }
}
