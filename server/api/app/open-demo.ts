/** Decides whether a gateway starts in demo mode, and starts it, or tidies up after one. */

import type { OpenedDatabase } from '../../base/database/open.ts'
import type { Log } from '../../base/lib/log.ts'
import type { SecretBox } from '../../base/lib/secrets/secrets.ts'
import { isSimulator, retireSimulators } from '../../money/catalog/apply/retire-simulators.ts'
import type { createCatalog } from '../../money/catalog/load/snapshot.ts'
import type { UPSTREAMS } from '../../wire/upstreams/index.ts'
import type { Config } from '../config/config.ts'
import { listFactors } from '../sign-in/factors/factors.ts'
import type { SignInParts } from '../sign-in/parts.ts'
import { findByEmail } from '../sign-in/person-store.ts'
import { type Demo, demoLines, readLastDemo, startDemo } from './demo.ts'
import type { OpenedCallbacks } from './open-callbacks.ts'
import type { OpenedOutbound } from './open-outbound.ts'
import type { OpenedSignIn } from './open-sign-in.ts'

/**
 * Demo mode requires an embedded database that has no channels other than the simulators'. A
 * channel that cannot be used, for want of a variable or of the secret key, is one all the same:
 * in a demo, operators need no second factor, and whoever is on the machine needs no password.
 */
export async function maybeDemo(parts: {
  readonly config: Config
  readonly database: OpenedDatabase
  readonly secrets: SecretBox
  readonly settings: Record<string, NonNullable<ReturnType<typeof UPSTREAMS.get>>>
  readonly catalog: Awaited<ReturnType<typeof createCatalog>>
  readonly url: string
  readonly port: number
  readonly openedSignIn: OpenedSignIn
  readonly outbound: OpenedOutbound
  readonly callbackAddresses: OpenedCallbacks
  readonly log: Log
}): Promise<Demo | undefined> {
  const { config, database, catalog } = parts
  const hasOnlySimulators = () => catalog.activeChannels().every(isSimulator)
  if (database.kind !== 'embedded' || !hasOnlySimulators()) {
    await tidyUp(parts)
    return undefined
  }
  const demo = await startDemo({
    sql: database.sql,
    upstreams: parts.settings,
    secrets: parts.secrets,
    dataDir: config.dataDir,
    baseUrl: parts.url,
    signIn: parts.openedSignIn.signIn,
    simulatorsPort: parts.port + 1,
  })
  const { account_id: accountId, api_key: apiKey } = demo.file
  const identity = { email: demo.file.console.email, accountId, apiKey }
  parts.openedSignIn.markDemo(() => (hasOnlySimulators() ? identity : undefined))
  parts.outbound.allowLoopback()
  parts.callbackAddresses.markDemo()
  await catalog.refresh()
  // Lines of JSON are collected, and the key is in DATA_DIR/demo.json.
  if (config.log.level !== 'silent' && config.log.format !== 'json') {
    console.log(demoLines(demo.file).join('\n'))
  }
  return demo
}

type TidyParts = Pick<
  Parameters<typeof maybeDemo>[0],
  'config' | 'database' | 'catalog' | 'openedSignIn' | 'log'
>

/** Retires what a demo on this data directory left: its simulators are not started again. */
async function tidyUp({ config, database, catalog, openedSignIn, log }: TidyParts) {
  const last = readLastDemo(config.dataDir)
  if (!last) return
  const { channels, models } = await retireSimulators(database.sql, ({ id, settings }) => {
    const address = typeof settings.base_url === 'string' ? settings.base_url : ''
    return isSimulator(id) && address.replace(/^ws/, 'http').startsWith(`${last.simulators}/`)
  })
  const isEnding = channels.length > 0
  if (isEnding) {
    await catalog.refresh()
    log.warn(
      {},
      `the demo is over: its ${channels.length} channels and ${models.length} models are ` +
        'retired, its records and balances stay',
    )
  }
  await explainSignIn(openedSignIn.signIn.parts, { email: last.email, isEnding, log })
}

/**
 * Logs how to sign in after the demo. It does so when the demo ends and, since an operator may have
 * removed the demo's channels earlier, at every start until its user has the second factor that is
 * now required.
 */
async function explainSignIn(
  parts: SignInParts,
  { email, isEnding, log }: { email: string; isEnding: boolean; log: Log },
): Promise<void> {
  const person = await findByEmail(parts.sql, email)
  if (!person || person.disabled_at) return
  const lacksFactor = parts.operatorsNeedFactor() && (await listFactors(parts, person)).length === 0
  if (!isEnding && !lacksFactor) return
  log.warn(
    {},
    `"Enter the demo" is gone: sign in as ${email} with the password in demo.json` +
      (lacksFactor ? '; operators need a second factor now (OPERATOR_SECOND_FACTOR)' : ''),
  )
}
