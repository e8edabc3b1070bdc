/** A gateway as it is after the installation: no operator, no channel, no account. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import type { Sql } from 'postgres'
import { type Simulators, startSimulators } from '../../../simulators/index.ts'
import { type GatewayProcess, startGateway } from '../../support/gateway.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import { launchBrowser } from './browser.ts'
import { ensureConsole } from './build.ts'

export interface BareStage {
  readonly gateway: GatewayProcess
  readonly simulators: Simulators
  readonly sql: Sql
  readonly browser: Browser
  /** What the gateway printed for whoever started it. */
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
  const gateway = await startGateway({ dataDir, databaseUrl: database.url, env })
  const browser = await launchBrowser()
  const [setUpLink = ''] = /http:\S+\/console\/setup#token=\S+/.exec(gateway.log()) ?? []
  return {
    gateway,
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
