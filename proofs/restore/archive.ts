/**
 * Point-in-time recovery (docs/guides/backup-and-restore.md) with PostgreSQL's server and `cp`
 * alone: a base backup and an archive of the write-ahead log.
 */
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { connect } from '../../server/base/database/connection/client.ts'
import {
  type ChosenServer,
  type PostgresChoice,
  startChosen,
} from '../../tests/support/database/chosen-postgres.ts'
import { until } from '../../tests/support/until.ts'

const ARCHIVED_WITHIN_MS = 60_000
const REPLAYED_WITHIN_MS = 300_000

/** Creates a folder that PostgreSQL can write to, whichever user it runs as. */
export function makeArchive(folder: string): string {
  mkdirSync(folder, { recursive: true })
  chmodSync(folder, 0o777)
  return folder
}

/** Returns settings of a server that archives its log into `archive`. */
export function archivingInto(archive: string): Record<string, string> {
  return {
    archive_mode: 'on',
    archive_command: `test ! -f ${archive}/%f && cp %p ${archive}/%f`,
  }
}

/**
 * Copies the cluster of a running server. `sql` has one connection: PostgreSQL binds a base backup
 * to its session.
 */
export async function takeBaseBackup(sql: Sql, dataDir: string, target: string): Promise<void> {
  await sql`select pg_backup_start('drill', true)`
  mkdirSync(target, { recursive: true })
  const copied = spawnSync('cp', ['-a', join(dataDir, 'postgres'), target], { encoding: 'utf8' })
  // Files that vanish while they are copied are in the log.
  const faults = copied.stderr.split('\n').filter((line) => line && !/No such file/.test(line))
  if (faults.length > 0) throw new Error(`the base backup failed: ${faults[0]}`)
  const [stopped] = await sql<{ label: string; map: string }[]>`
    select labelfile as label, spcmapfile as map from pg_backup_stop(true)`
  const cluster = join(target, 'postgres')
  rmSync(join(cluster, 'postmaster.pid'), { force: true })
  rmSync(join(cluster, 'postmaster.opts'), { force: true })
  for (const name of readdirSync(join(cluster, 'pg_wal'))) {
    if (/^[0-9A-F]{24}/.test(name)) rmSync(join(cluster, 'pg_wal', name))
  }
  writeOwned(cluster, 'backup_label', stopped?.label ?? '')
  cpSync(join(dataDir, 'postgres.password'), join(target, 'postgres.password'))
}

/** Ends the current segment and waits until it is in the archive. */
export async function archiveEverything(sql: Sql): Promise<void> {
  const [row] = await sql<{ segment: string }[]>`
    select pg_walfile_name(pg_current_wal_lsn()) as segment, pg_switch_wal()`
  await until(
    'the archive',
    async () => {
      const [state] = await sql<{ last: string | null }[]>`
        select last_archived_wal as last from pg_stat_archiver`
      return (state?.last ?? '') >= (row?.segment ?? '') ? true : undefined
    },
    ARCHIVED_WITHIN_MS,
  )
}

/** Starts a server from a base backup and the archive. Resolves once it has the state of `at`. */
export async function recoverTo(
  at: Date,
  parts: {
    readonly base: string
    readonly archive: string
    readonly dataDir: string
    readonly choice: PostgresChoice
  },
): Promise<ChosenServer> {
  const { base, archive, dataDir, choice } = parts
  mkdirSync(dataDir, { recursive: true })
  spawnSync('cp', ['-a', `${base}/.`, dataDir])
  writeOwned(join(dataDir, 'postgres'), 'recovery.signal', '')
  const server = await startChosen({
    choice,
    dataDir,
    settings: {
      restore_command: `cp ${archive}/%f %p`,
      recovery_target_time: at.toISOString().replace('T', ' ').replace('Z', '+00'),
      recovery_target_action: 'promote',
      archive_mode: 'off',
    },
  })
  await untilReached(server)
  return server
}

/** Waits for the end of the replay: the server answers before, with a state in between. */
async function untilReached(server: ChosenServer): Promise<void> {
  const sql = connect(server.place, { connections: 1, patient: true })
  try {
    await until(
      'the end of the replay',
      async () => {
        const [row] = await sql<{ replaying: boolean }[]>`select pg_is_in_recovery() as replaying`
        return row?.replaying === false ? true : undefined
      },
      REPLAYED_WITHIN_MS,
    )
  } finally {
    await sql.end({ timeout: 1 })
  }
}

/** Writes a file as the user that PostgreSQL runs as. */
function writeOwned(cluster: string, name: string, text: string): void {
  const { uid, gid } = statSync(cluster)
  const path = join(cluster, name)
  writeFileSync(path, text, { mode: 0o600 })
  chownSync(path, uid, gid)
}
