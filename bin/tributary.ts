#!/usr/bin/env node
/** The command line: one file per command in a room of commands/. */
import { enableCompileCache, flushCompileCache } from 'node:module'
import { join } from 'node:path'

// Types are stripped and modules compiled once per version of a file, not at every start. A folder
// that cannot be written makes no difference but time.
enableCompileCache(join(import.meta.dirname, '..', 'node_modules', '.cache', 'compile'))
const { runCommandLine } = await import('./lib/run.ts')
// At once, because a gateway that is killed would never write them.
flushCompileCache()

process.exitCode = await runCommandLine(process.argv.slice(2))
