/** A migrated database on a server of the test's own, which can be taken away and brought back. */
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { connect } from '../../../server/base/database/connection/client.ts'
import { migrate } from '../../../server/base/database/migrations/migrate.ts'
import { until } from '../until.ts'
import { signalServer, startOwnServer } from './own-postgres.ts'

const MIGRATIONS = join(import.meta.dirname, '..', '..', '..', 'migrations')

export interface OwnDatabase {
  readonly sql: Sql
  /** DATABASE_URL of gateways under test. */
  readonly url: string
  /** Each takes the database away; the returned function brings it back, once. */
  readonly ways: Readonly<Record<'stopped' | 'frozen', () => () => Promise<void>>>
  /** Puts the state of now aside; the returned function brings the server back in that state. */
  backUp(): Promise<() => Promise<void>>
  drop(): Promise<void>
}

export async function startOwnDatabase(): Promise<OwnDatabase> {
  const server = await startOwnServer()
  const sql = connect(server.place, { patient: true })
  await migrate(sql, MIGRATIONS)
  const cluster = join(server.dataDir, 'postgres')
  const copy = join(server.dataDir, 'copy')

  async function stop(): Promise<void> {
    process.kill(server.pid() ?? 0, 'SIGINT')
    await until('its end', () => server.pid() === undefined || undefined)
  }

  const start = () => until('it', () => server.revive().catch(() => undefined))

  return {
    sql,
    url: server.url,
    ways: {
      stopped() {
        const stopping = stop()
        return once(async () => {
          await stopping
          await start()
        })
      },
      frozen() {
        const pid = server.pid() ?? 0
        signalServer(pid, 'SIGSTOP')
        return once(async () => signalServer(pid, 'SIGCONT'))
      },
    },
    async backUp() {
      await stop()
      copyFolder(cluster, copy)
      await start()
      return async () => {
        await stop()
        rmSync(cluster, { recursive: true })
        copyFolder(copy, cluster)
        await start()
      }
    },
    async drop() {
      await sql.end({ timeout: 1 })
      await server.remove()
    },
  }
}

/** With its owner, who may be another than that of this process. */
function copyFolder(from: string, to: string): void {
  execFileSync('cp', ['-a', from, to])
}

function once(work: () => Promise<void>): () => Promise<void> {
  let doing: Promise<void> | undefined
  return () => {
    doing ??= work()
    return doing
  }
}
