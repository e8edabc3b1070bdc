/** An upgrade from another version and back, one gateway after the other, under load. */
import { audit } from '../../server/ledger/audit/audit.ts'
import { findFreePort } from '../../tests/support/free-port.ts'
import { type GatewayProcess, startGateway } from '../../tests/support/gateway.ts'
import { type Failure, replaceEach, startLoad } from './load.ts'
import { startProxy } from './proxy.ts'
import { readSchema, unpackRelease } from './release.ts'

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
): Promise<Upgrade> {
  const release = await unpackRelease(commit)
  const laboratory = await release.openLaboratory({ shared: true, keys: 1 })
  const { dataDir, databaseUrl = '' } = laboratory
  const place = (port: number) => ({ dataDir, databaseUrl, port, env })
  const gateways: GatewayProcess[] = []
  for (let index = 0; index < GATEWAYS; index += 1) {
    gateways.push(await release.startGateway(place(await findFreePort())))
  }
  const proxy = await startProxy(
    gateways.map(({ port }) => port),
    { probes: true },
  )
  const load = startLoad(proxy.url, laboratory.keys[0]?.key ?? '')
  await replaceEach(gateways, load, (port) => startGateway(place(port)))
  await replaceEach(gateways, load, (port) => release.startGateway(place(port)))
  const { calls, tasks, perSecond } = await load.finish()
  await Promise.all(gateways.map((gateway) => gateway.stop(30_000)))
  await proxy.stop(load.failures.length > 0)
  const { ok: auditOk } = await laboratory.withDatabase((sql) => audit(sql))
  await laboratory.close()
  release.remove()
  const schemas = [release.schema, readSchema()] as const
  return { from: commit, schemas, calls, tasks, perSecond, failures: load.failures, auditOk }
}
