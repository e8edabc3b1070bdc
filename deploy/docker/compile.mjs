/**
 * Compiles the modules of a gateway's folder in advance. A container starts with the files of its
 * image: without this, each start strips the types of all modules and compiles them anew.
 *   node deploy/docker/compile.mjs /app
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, readdirSync } from 'node:fs'
import { enableCompileCache, flushCompileCache, getCompileCacheDir } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const [target = '', step] = process.argv.slice(2)
const load = (path) => import(pathToFileURL(resolve(target, path)).href)

if (step === undefined) {
  // The engine does not read what was compiled with other flags than those of `serve`.
  const { ENGINE_FLAGS } = await load('bin/lib/engine-flags.ts')
  const words = [...ENGINE_FLAGS, import.meta.filename, target, 'load']
  process.exitCode = spawnSync(process.execPath, words, { stdio: 'inherit' }).status ?? 1
} else {
  // As in bin/tributary.ts.
  const directory = resolve(target, 'node_modules', '.cache', 'compile')
  enableCompileCache({ directory, portable: true })
  await Promise.all(['bin/lib/run.ts', 'bin/commands/run/serve.ts', 'server/main.ts'].map(load))
  flushCompileCache()
  // The engine lets only its own user read them.
  const folder = getCompileCacheDir() ?? directory
  const names = readdirSync(folder)
  for (const name of names) chmodSync(join(folder, name), 0o444)
  console.log(`${names.length} files of compiled modules`)
}
