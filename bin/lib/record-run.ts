/** Records how a command that operators schedule has ended, for the metrics of the gateways. */
import type { Sql } from 'postgres'
import { readVersion } from '../../server/api/config/version.ts'
import { type CommandRun, upsertCommandRun } from '../../server/money/usage/command-run-store.ts'

/**
 * Runs `work` and records its outcome: a failure if it throws or sets an exit code. A run that
 * cannot be recorded, such as in a database of an older version, is only reported.
 */
export async function recordingRun<T>(
  sql: Sql,
  run: Pick<CommandRun, 'command' | 'place'>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    const result = await work()
    await record(sql, { ...run, hasSucceeded: (process.exitCode ?? 0) === 0 })
    return result
  } catch (error) {
    await record(sql, { ...run, hasSucceeded: false })
    throw error
  }
}

async function record(sql: Sql, run: Omit<CommandRun, 'version'>): Promise<void> {
  try {
    await upsertCommandRun(sql, { ...run, version: readVersion() })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    console.error(`tributary: the time of this ${run.command} could not be recorded: ${reason}`)
  }
}
