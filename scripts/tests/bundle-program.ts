/**
 * Bundles the program for tests that start it as a process: to load its modules one by one takes
 * more than half of the processor time of a start.
 */
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'vite'

const ROOT = join(import.meta.dirname, '..', '..')
/** Always the same, for the cache of compiled modules, and below the packages, which it imports. */
const FOLDER = join(ROOT, 'node_modules', '.cache', 'program')
/**
 * Packages that stay where they are: the tables of the tokenizer are imported by the thread that
 * counts tokens alone, and the order of the modules that read passkeys matters.
 */
const LEFT_OUT = ['gpt-tokenizer', '@simplewebauthn/server']
/** Another run in this tree may start processes of the bundle before. */
const KEPT_MS = 3_600_000
/**
 * Processes of the bundle make no calls to themselves when they start, which take a quarter of a
 * start's processor time. Tests of few files, and of an installation, start the tree as it is.
 */
const WARM_UP = {
  file: join(ROOT, 'server/api/config/config.ts'),
  on: 'warmsUp: true',
  off: 'warmsUp: false',
}

/** Returns the path of the bundle. */
export async function bundleProgram(): Promise<string> {
  await build({
    configFile: false,
    root: ROOT,
    publicDir: false,
    logLevel: 'error',
    plugins: [
      { name: 'places', transform: keepPlaces },
      { name: 'warm-up', transform: leaveOutWarmUp },
    ],
    ssr: { noExternal: true, external: [...LEFT_OUT] },
    build: {
      ssr: true,
      outDir: FOLDER,
      emptyOutDir: false,
      minify: false,
      target: 'node26',
      rolldownOptions: { input: join(ROOT, 'bin', 'tributary.ts') },
    },
  })
  removeOld(join(FOLDER, 'assets'))
  // Else each start reads every module twice, to find out that it is one.
  writeFileSync(join(FOLDER, 'package.json'), '{"type":"module"}')
  return join(FOLDER, 'tributary.js')
}

/** Modules read files beside them, and start threads, where their sources are. */
function keepPlaces(code: string, id: string): string | undefined {
  if (id.includes('node_modules') || !code.includes('import.meta.')) return undefined
  return code
    .replaceAll('import.meta.dirname', JSON.stringify(dirname(id)))
    .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
}

function leaveOutWarmUp(code: string, id: string): string | undefined {
  if (id !== WARM_UP.file) return undefined
  if (!code.includes(WARM_UP.on)) throw new Error(`no "${WARM_UP.on}" in ${id}`)
  return code.replace(WARM_UP.on, WARM_UP.off)
}

/** The names have a hash of the content: files that are still needed have just been written. */
function removeOld(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (Date.now() - statSync(path).mtimeMs > KEPT_MS) rmSync(path, { force: true })
  }
}
