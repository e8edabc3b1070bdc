/** Two gateways on one PostgreSQL, each behind a faulty proxy, and simulators as their vendor. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { connect } from '../../server/base/database/connection/client.ts'
import { migrate } from '../../server/base/database/migrations/migrate.ts'
import { type CreatedKey, createKey } from '../../server/money/accounts/manage-keys.ts'
import { type SimulatorsProcess, startSimulatorsProcess } from '../../testbed/laboratory.ts'
import type { PostgresChoice } from '../../tests/support/database/chosen-postgres.ts'
import {
  makeDataDir,
  signalServer,
  startOwnServer,
} from '../../tests/support/database/own-postgres.ts'
import { mountSmallDisk, noSmallDisk } from '../../tests/support/database/small-disk.ts'
import {
  applySimulators,
  createTestAccount,
  type GatewayProcess,
  startGateway,
} from '../../tests/support/gateway.ts'
import { until } from '../../tests/support/until.ts'
import { type FaultyProxy, openProxy } from './proxy.ts'

const MIGRATIONS = join(import.meta.dirname, '..', '..', 'migrations')
const DISK_MEGABYTES = 1_024
const BACK_MS = 60_000

export interface Gateway {
  readonly proxy: FaultyProxy
  process: GatewayProcess
  isUp: boolean
}

export interface Stage {
  readonly gateways: readonly Gateway[]
  readonly simulators: SimulatorsProcess
  readonly accountIds: readonly string[]
  readonly keys: readonly CreatedKey[]
  /** Connects to the database directly, without the proxies. */
  readonly sql: Sql
  readonly dataDir: string
  /** True if the database is on a small disk of its own, which can be filled. */
  readonly hasSmallDisk: boolean
  /** `host:port` of every gateway process that was killed. */
  readonly killed: ReadonlySet<string>
  signalDatabase(signal: NodeJS.Signals): void
  /** Shuts the server down as an operator would, and starts it again. */
  restartDatabase(awayMs: number): Promise<void>
  kill(gateway: Gateway): Promise<void>
  /** Returns the newest log lines of every process so far. */
  logs(): string
  close(): Promise<void>
}

export async function openStage(options: {
  readonly accounts: number
  readonly keys: number
  readonly postgres?: PostgresChoice
}): Promise<Stage> {
  const undo: (() => unknown)[] = []
  const hasSmallDisk = noSmallDisk === false
  const after = (work?: unknown) => {
    if (typeof work === 'function') undo.push(() => work())
  }
  const dataDir = hasSmallDisk ? mountSmallDisk({ after }, DISK_MEGABYTES) : makeDataDir()
  const server = await startOwnServer(dataDir, { choice: options.postgres ?? 'embedded' })
  const sql = connect(server.place, { patient: true, statementTimeoutMs: 0 })
  await migrate(sql, MIGRATIONS)
  const simulators = await startSimulatorsProcess()
  await applySimulators(sql, simulators.url)
  const { accountIds, keys } = await createCallers(sql, options)
  const killed = new Set<string>()
  const logs: (() => string)[] = []

  async function start(proxy: FaultyProxy): Promise<GatewayProcess> {
    const process = await startGateway({ dataDir: makeDataDir(), databaseUrl: proxy.url })
    logs.push(() => `--- ${process.url}\n${process.log().slice(-20_000)}`)
    return process
  }

  const gateways: Gateway[] = []
  for (let index = 0; index < 2; index += 1) {
    const proxy = await openProxy(server.place)
    gateways.push({ proxy, process: await start(proxy), isUp: true })
  }
  return {
    gateways,
    simulators,
    accountIds,
    keys,
    sql,
    dataDir,
    hasSmallDisk,
    killed,
    signalDatabase(signal) {
      const pid = server.pid()
      if (pid !== undefined) signalServer(pid, signal)
    },
    async restartDatabase(awayMs) {
      const pid = server.pid()
      if (pid !== undefined) process.kill(pid, 'SIGINT')
      await sleep(awayMs)
      await until('the database again', () => server.revive().catch(() => undefined), BACK_MS)
    },
    async kill(gateway) {
      gateway.isUp = false
      killed.add(new URL(gateway.process.url).host)
      await gateway.process.kill9()
      gateway.process = await start(gateway.proxy)
      gateway.isUp = true
    },
    logs: () => logs.map((read) => read()).join('\n'),
    async close() {
      await closeGateways(gateways)
      await simulators.stop(5_000)
      await sql.end({ timeout: 1 })
      await server.stop()
      for (const work of undo) work()
      await server.remove()
    },
  }
}

async function closeGateways(gateways: readonly Gateway[]): Promise<void> {
  for (const { process } of gateways) await process.stop(10_000)
  for (const { proxy } of gateways) await proxy.close()
}

async function createCallers(sql: Sql, options: { accounts: number; keys: number }) {
  const accountIds: string[] = []
  for (let index = 0; index < options.accounts; index += 1) {
    accountIds.push((await createTestAccount(sql, '100000')).id)
  }
  const keys: CreatedKey[] = []
  for (let index = 0; index < options.keys; index += 1) {
    keys.push(await createKey(sql, { accountId: accountIds[index % accountIds.length] ?? '' }))
  }
  return { accountIds, keys }
}

/** Fills the database's disk; the returned function frees it. */
export function fillDisk({ dataDir }: Stage): () => void {
  const ballast = join(dataDir, 'ballast')
  const piece = Buffer.alloc(1024 * 1024)
  try {
    for (let written = 0; written < DISK_MEGABYTES; written += 1) {
      writeFileSync(ballast, piece, { flag: 'a' })
    }
  } catch {
    // The disk is full.
  }
  return () => writeFileSync(ballast, '')
}
