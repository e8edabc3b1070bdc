/** An upgrade from another version and back, one gateway after the other, under load. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { connect } from '../../server/base/database/connection/client.ts'
import { audit } from '../../server/money/ledger/audit/audit.ts'
import { startSimulatorsProcess } from '../../testbed/laboratory.ts'
import type { PostgresChoice } from '../../tests/support/database/chosen-postgres.ts'
import { startOwnServer } from '../../tests/support/database/own-postgres.ts'
import { findFreePort } from '../../tests/support/free-port.ts'
import { type GatewayProcess, startGateway } from '../../tests/support/gateway.ts'
import { until } from '../../tests/support/until.ts'
import { type Failure, replaceEach, startLoad } from './load.ts'
import { startProxy } from './proxy.ts'
import { type Release, readSchema, unpackRelease } from './release.ts'

const GATEWAYS = 3

export interface Upgrade {
  readonly from: string
  readonly schemas: readonly [string, string]
  readonly calls: number
  readonly tasks: number
  readonly perSecond: number
  readonly failures: readonly Failure[]
  readonly auditOk: boolean
}

/**
 * Starts the version of `commit` on a database of its own, replaces each gateway by this version,
 * the first of which migrates, and each of these by the older version again.
 */
export async function upgradeAndBack(
  commit: string,
  env: Record<string, string>,
  postgres: PostgresChoice,
): Promise<Upgrade> {
  const release = await unpackRelease(commit)
  const dataDir = mkdtempSync(join(tmpdir(), 'tributary-upgrade-'))
  const server = await startOwnServer(dataDir, { choice: postgres })
  const sql = connect(server.place, { patient: true, statementTimeoutMs: 0 })
  const simulators = await startSimulatorsProcess()
  const place = (port: number) => ({ dataDir, databaseUrl: server.url, port, env })
  const gateways: GatewayProcess[] = []
  for (let index = 0; index < GATEWAYS; index += 1) {
    gateways.push(await release.gateways.startGateway(place(await findFreePort())))
  }
  const key = await furnish(release, sql, simulators.url)
  // Notices of the catalog travel on their own: the load begins when all gateways have it.
  for (const { url } of gateways) await until('the catalog', () => sellsModels(url, key))
  const proxy = await startProxy(
    gateways.map(({ port }) => port),
    { probes: true },
  )
  const load = startLoad(proxy.url, key)
  await replaceEach(gateways, load, (port) => startGateway(place(port)))
  await replaceEach(gateways, load, (port) => release.gateways.startGateway(place(port)))
  const { calls, tasks, perSecond } = await load.finish()
  await Promise.all(gateways.map((gateway) => gateway.stop(30_000)))
  await proxy.stop(load.failures.length > 0)
  const { ok: auditOk } = await audit(sql)
  await sql.end({ timeout: 1 })
  await simulators.stop(5_000)
  await server.remove()
  release.remove()
  const schemas = [release.schema, readSchema()] as const
  return { from: commit, schemas, calls, tasks, perSecond, failures: load.failures, auditOk }
}

async function sellsModels(url: string, key: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${key}` }
  const answer = await fetch(`${url}/v1/models`, { headers })
  return answer.ok && (await answer.text()).includes('"sim-chat"')
}

/** Gives the older version's database its catalog, and returns the key of a caller. */
async function furnish(release: Release, sql: Sql, simulatorsUrl: string): Promise<string> {
  const { gateways, keys } = release
  await gateways.applySimulators(sql, simulatorsUrl)
  const account = await gateways.createTestAccount(sql, '100000')
  return (await keys.createKey(sql, { accountId: account.id })).key
}
