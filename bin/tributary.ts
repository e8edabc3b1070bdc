#!/usr/bin/env node
/** The command line: one file per command group in commands/. */
import { runCommandLine } from './lib/run.ts'

process.exitCode = await runCommandLine(process.argv.slice(2))
