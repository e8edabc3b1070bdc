/** The files of a build on disk: read once, and again after a new build. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'

export interface BuiltFile {
  readonly type: string
  /** Bodies by content encoding, as compressed by the build. */
  readonly bodies: Readonly<Partial<Record<Encoding, Buffer>>> & { readonly identity: Buffer }
}

export type Encoding = 'identity' | 'gzip' | 'br'

interface Build<Main> {
  /** The main file, as `parse` reads it. */
  readonly main: Main
  /** Files by path below the folder. */
  readonly files: ReadonlyMap<string, BuiltFile>
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
}

/** Returns a reader of a build's folder; it resolves to undefined if there is no build. */
export function openBuild<Main>(
  folder: string,
  mainFile: string,
  parse: (text: string) => Main,
): () => Promise<Build<Main> | undefined> {
  let known: { readonly builtAtMs: number; readonly build: Promise<Build<Main>> } | undefined
  async function readBuild(): Promise<Build<Main>> {
    const names = (await readdir(folder, { recursive: true })).map((name) =>
      name.replaceAll('\\', '/'),
    )
    const files = new Map<string, BuiltFile>()
    for (const name of names) {
      const type = TYPES[extname(name)]
      if (type) files.set(name, { type, bodies: await readBodies(join(folder, name)) })
    }
    return { main: parse(await readFile(join(folder, mainFile), 'utf8')), files }
  }
  return async function read() {
    const found = await stat(join(folder, mainFile)).catch(() => undefined)
    if (!found) return undefined
    if (known?.builtAtMs !== found.mtimeMs) {
      known = { builtAtMs: found.mtimeMs, build: readBuild() }
    }
    return known.build.catch(() => {
      // A build may be in progress: the next request reads again.
      known = undefined
      return undefined
    })
  }
}

async function readBodies(path: string): Promise<BuiltFile['bodies']> {
  const optional = (name: string) => readFile(name).catch(() => undefined)
  const [identity, br, gzip] = await Promise.all([
    readFile(path),
    optional(`${path}.br`),
    optional(`${path}.gz`),
  ])
  return { identity, br, gzip }
}
