/** A gateway as it is after the installation: no operator, no channel, no account. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import type { Sql } from 'postgres'
import { type Simulators, startSimulators } from '../../../simulators/index.ts'
import { launchBrowser } from '../../support/browser.ts'
import { type GatewayPlace, type GatewayProcess, startGateway } from '../../support/gateway.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'
import { ensureConsole } from './build.ts'

const LINK = /http:\S+\/console\/setup#token=\S+/

export interface BareStage {
  readonly gateway: GatewayProcess
  /** To start the gateway again. */
  readonly place: GatewayPlace
  readonly simulators: Simulators
  readonly sql: Sql
  readonly browser: Browser
  /** The set-up link that the gateway printed at its start. */
  readonly setUpLink: string
  stop(): Promise<void>
}

export async function startBareStage(
  env: Readonly<Record<string, string>> = {},
): Promise<BareStage> {
  await ensureConsole()
  const database = await createTestDatabase()
  const simulators = await startSimulators({ port: 0 })
  const dataDir = mkdtempSync(join(tmpdir(), 'tributary-bare-'))
  const place = { dataDir, databaseUrl: database.url, env }
  const gateway = await startGateway(place)
  const browser = await launchBrowser()
  // It answers before all that it has written is read.
  const setUpLink = await until('the set-up link', () => LINK.exec(gateway.log())?.[0])
  return {
    gateway,
    place,
    simulators,
    sql: database.sql,
    browser,
    setUpLink,
    async stop() {
      await browser.close()
      await gateway.stop(5_000)
      await simulators.stop()
      await database.drop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
