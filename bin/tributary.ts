#!/usr/bin/env node
/** The command line: one file per command in a room of commands/. */
import { enableCompileCache, flushCompileCache } from 'node:module'
import { join } from 'node:path'

if (process.argv[2] === 'serve') {
  const { keepTickShape, restartWithFlags } = await import('./lib/engine-flags.ts')
  restartWithFlags()
  keepTickShape()
}
// Types are stripped and modules compiled once per version of a file instead of at every start. If
// the folder cannot be written, starts only take longer. It is portable, because an image is built
// in another folder than it runs in (deploy/docker/compile.mjs).
const compiled = join(import.meta.dirname, '..', 'node_modules', '.cache', 'compile')
enableCompileCache({ directory: compiled, portable: true })
const { runCommandLine } = await import('./lib/run.ts')
// Flushed at once, because a killed gateway would never write it.
flushCompileCache()

process.exitCode = await runCommandLine(process.argv.slice(2))
