/** The running processes, their database and configuration. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SignInParts } from '../../../sign-in/parts.ts'
import type { HandlersOf } from '../../handler.ts'
import type { ShownVariable } from '../../services.ts'
import type { operatorSystemContract } from './contract.ts'
import { selectDatabase, selectGateways, selectTables } from './store.ts'

const MANIFEST = join(import.meta.dirname, '..', '..', '..', '..', '..', 'package.json')
const STARTED_AT = new Date(Date.now() - performance.now())

function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(MANIFEST, 'utf8'))
  const isVersioned = typeof manifest === 'object' && manifest !== null && 'version' in manifest
  return isVersioned ? String(manifest.version) : ''
}

const SECOND_FACTOR = 'OPERATOR_SECOND_FACTOR'

/** Returns the value in effect: demo mode lifts the requirement. */
function secondFactorOf({ operatorsNeedFactor }: SignInParts, configured: string): string {
  const effective = operatorsNeedFactor() ? 'required' : 'optional'
  return effective === configured ? configured : `${effective} (demo mode)`
}

function showVariable(variable: ShownVariable, parts: SignInParts) {
  const { name, default: usual, description } = variable
  const value = name === SECOND_FACTOR ? secondFactorOf(parts, variable.value) : variable.value
  return { name, value, default: usual, changed: value !== usual, description }
}

export const operatorSystemHandlers: HandlersOf<typeof operatorSystemContract> = {
  async 'GET /operator/system'(_input, services) {
    const { sql, system, inFlight, publicUrl, notReady, signIn } = services
    const [gateways, database, tables, reason] = await Promise.all([
      selectGateways(sql),
      selectDatabase(sql),
      selectTables(sql),
      notReady(),
    ])
    return {
      version: readVersion(),
      started_at: STARTED_AT,
      node: process.versions.node,
      site: system.site,
      public_url: publicUrl,
      ready: reason === undefined,
      not_ready_reason: reason ?? null,
      memory_bytes: process.memoryUsage.rss(),
      calls_in_flight: inFlight.size(),
      files_shared: system.areFilesShared(),
      gateways: gateways.map((row) => ({ ...row, this: row.id === system.ownerId })),
      database: { ...database, tables },
      configuration: system
        .describeConfiguration()
        .map((variable) => showVariable(variable, signIn.parts)),
    }
  },
}
