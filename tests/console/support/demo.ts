/** A gateway in demo mode, as `npm start` leaves it, and a browser. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import type { DemoFile } from '../../../server/api/app/demo.ts'
import { launchBrowser } from '../../support/browser.ts'
import { type GatewayProcess, startGateway } from '../../support/gateway.ts'
import { until } from '../../support/until.ts'
import { ensureConsole } from './build.ts'

export interface DemoStage {
  readonly gateway: GatewayProcess
  readonly demo: DemoFile
  readonly browser: Browser
  stop(): Promise<void>
}

export async function startDemoStage(): Promise<DemoStage> {
  await ensureConsole()
  const dataDir = mkdtempSync(join(tmpdir(), 'tributary-demo-'))
  const gateway = await startGateway({ dataDir, env: { LOG_LEVEL: 'info' } })
  const path = join(dataDir, 'demo.json')
  await until('the demo', () => existsSync(path))
  const demo: DemoFile = JSON.parse(readFileSync(path, 'utf8'))
  const browser = await launchBrowser()
  return {
    gateway,
    demo,
    browser,
    async stop() {
      await browser.close()
      await gateway.stop(10_000)
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
