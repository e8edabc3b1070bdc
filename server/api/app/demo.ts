/**
 * Demo mode: a gateway without any channel starts the vendors' simulators and creates an account
 * with a balance and a key, so that the first curl works before anybody has an upstream account.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { randomText } from '../../base/lib/ids.ts'
import { asString, member, tryParseJson } from '../../base/lib/json.ts'
import { parseAmount } from '../../base/lib/money.ts'
import { isWellFormedApiKey } from '../../base/lib/secrets/api-key.ts'
import type { SecretBox } from '../../base/lib/secrets/secrets.ts'
import { createAccount, listAccounts } from '../../money/accounts/manage-accounts.ts'
import { createKey } from '../../money/accounts/manage-keys.ts'
import { applyCatalog } from '../../money/catalog/apply/apply.ts'
import { type NamedCatalogFile, parseCatalogFile } from '../../money/catalog/apply/file.ts'
import type { KnownUpstreams } from '../../money/catalog/channel-settings.ts'
import { getOrCreateSecret } from '../../work/webhooks/secrets.ts'
import { createPerson } from '../sign-in/people/people.ts'
import { findByEmail, putMembership, updatePassword } from '../sign-in/person-store.ts'
import type { SignIn } from '../sign-in/sign-in.ts'
import { runVendors } from './demo-vendors.ts'

const CATALOG = join(import.meta.dirname, '..', '..', '..', 'catalog', 'simulators.json')
const ACCOUNT_NAME = 'Demo'
const BALANCE = '1000'
const EMAIL = 'demo@example.com'
const PASSWORD_LENGTH = 20

export interface Demo {
  readonly file: DemoFile
  stop(): Promise<void>
}

/** The content of DATA_DIR/demo.json, for scripts and first steps. */
export interface DemoFile {
  readonly base_url: string
  readonly api_key: string
  readonly account_id: string
  readonly webhook_secret: string
  readonly console: {
    readonly url: string
    readonly email: string
    readonly password: string
  }
  readonly simulators: { readonly url: string }
}

export interface DemoOptions {
  readonly sql: Sql
  readonly upstreams: KnownUpstreams
  readonly secrets: SecretBox
  readonly dataDir: string
  readonly baseUrl: string
  readonly signIn: SignIn
  /** The preferred port of the simulators; if it is taken, they use another. */
  readonly simulatorsPort: number
}

/** Starts the simulators, applies their catalog and ensures that the demo account exists. */
export async function startDemo(options: DemoOptions): Promise<Demo> {
  const { sql, upstreams, secrets, dataDir } = options
  const vendors = await runVendors(dataDir, options.simulatorsPort)
  const environment = { ...process.env, SIMULATORS_URL: vendors.url }
  const parsed = parseCatalogFile(CATALOG, readFileSync(CATALOG, 'utf8'), environment)
  const files = [withoutUnknown(parsed, upstreams)]
  await applyCatalog({ sql, files, upstreams, secrets, environment })
  const identity = readDemoFile(dataDir) ?? (await createIdentity(sql))
  const user = await ensureUser(options, identity.account_id)
  const file: DemoFile = {
    base_url: options.baseUrl,
    ...identity,
    webhook_secret: (await getOrCreateSecret(sql, secrets, identity.account_id)).current,
    console: user,
    simulators: { url: vendors.url },
  }
  writePrivately(join(dataDir, 'demo.json'), `${JSON.stringify(file, null, 2)}\n`)
  return { file, stop: vendors.stop }
}

/** Removes channels of protocols that this gateway does not speak, and their routes and models. */
function withoutUnknown(file: NamedCatalogFile, upstreams: KnownUpstreams): NamedCatalogFile {
  const channels = file.content.channels.filter((channel) =>
    Object.hasOwn(upstreams, channel.upstream),
  )
  const channelIds = new Set(channels.map((channel) => channel.id))
  const models = file.content.models
    .map((model) => ({
      ...model,
      routes: model.routes.filter((route) => channelIds.has(route.channel)),
    }))
    .filter((model) => model.routes.length > 0)
  return { ...file, content: { ...file.content, channels, models } }
}

interface Identity {
  readonly api_key: string
  readonly account_id: string
}

/** Returns the key of an earlier start, which is stored only in this file. */
function readDemoFile(dataDir: string): Identity | undefined {
  try {
    const found = tryParseJson(readFileSync(join(dataDir, 'demo.json')))
    const apiKey = asString(member(found, 'api_key'))
    const accountId = asString(member(found, 'account_id'))
    if (!apiKey || !accountId || !isWellFormedApiKey(apiKey)) return undefined
    return { api_key: apiKey, account_id: accountId }
  } catch {
    return undefined
  }
}

/** Returns what the last demo on this data directory wrote, if there was one. */
export function readLastDemo(
  dataDir: string,
): { readonly simulators: string; readonly email: string } | undefined {
  try {
    const found = tryParseJson(readFileSync(join(dataDir, 'demo.json')))
    const simulators = asString(member(member(found, 'simulators'), 'url'))
    return simulators ? { simulators, email: EMAIL } : undefined
  } catch {
    return undefined
  }
}

async function createIdentity(sql: Sql): Promise<Identity> {
  const existing = (await listAccounts(sql)).find((account) => account.name === ACCOUNT_NAME)
  const account =
    existing ??
    (await createAccount(sql, {
      name: ACCOUNT_NAME,
      openingBalanceNanos: parseAmount(BALANCE) ?? 0n,
      actor: 'demo',
    }))
  const { key } = await createKey(sql, { accountId: account.id, name: 'demo' })
  return { api_key: key, account_id: account.id }
}

/**
 * Ensures the operator and owner of the demo, with a random password that is stored only in this
 * file. A password changed in the console stays valid, and the file then shows the old one.
 */
async function ensureUser(
  { sql, signIn, dataDir, baseUrl }: DemoOptions,
  accountId: string,
): Promise<DemoFile['console']> {
  const url = `${baseUrl}/console/`
  const existing = await findByEmail(sql, EMAIL)
  const storedPassword = readPassword(dataDir)
  if (existing && storedPassword) return { url, email: EMAIL, password: storedPassword }
  const password = storedPassword ?? randomText(PASSWORD_LENGTH)
  if (existing) await updatePassword(sql, existing.id, await signIn.parts.passwords.hash(password))
  const person = { email: EMAIL, name: ACCOUNT_NAME, isOperator: true, password }
  const { id: personId } = existing ?? (await createPerson(signIn.parts, person))
  await putMembership(sql, { personId, accountId, role: 'owner' })
  return { url, email: EMAIL, password }
}

function readPassword(dataDir: string): string | undefined {
  try {
    const found = tryParseJson(readFileSync(join(dataDir, 'demo.json')))
    return asString(member(member(found, 'console'), 'password')) || undefined
  } catch {
    return undefined
  }
}

function writePrivately(path: string, text: string): void {
  writeFileSync(`${path}.new`, text, { mode: 0o600 })
  renameSync(`${path}.new`, path)
}

/** Returns what a person who has just started the gateway needs, each part with its label. */
export function demoLines(file: DemoFile): string[] {
  const { base_url: base, api_key: key } = file
  const auth = `-H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json'`
  return [
    '',
    'Tributary runs in demo mode: simulated vendors, play money, nothing leaves this machine.',
    '',
    `  Console     ${file.console.url}`,
    '              Press "Enter the demo", or sign in:',
    `  E-mail      ${file.console.email}`,
    `  Password    ${file.console.password}`,
    `  API key     ${key}`,
    `  Balance     ¥${BALANCE} of play money when the demo is created`,
    '',
    'A chat, streamed. The most it can cost is put on hold before it is sent, then the actual',
    'usage is charged and the rest of the hold is returned:',
    `  curl -N ${base}/v1/chat/completions ${auth} \\`,
    `    -d '{"model":"sim-chat","stream":true,"messages":[{"role":"user","content":"Hello"}]}'`,
    '',
    'Speech, into the file hello.mp3:',
    `  curl ${base}/v1/audio/speech ${auth} -o hello.mp3 \\`,
    `    -d '{"model":"sim-tts","voice":"alloy","input":"Hello"}'`,
    '',
    'A web search:',
    `  curl ${base}/v1/search ${auth} -d '{"Type":"web","Query":"rivers"}'`,
    '',
    'What these calls cost, and how that was calculated:',
    `  curl ${base}/v1/usage ${auth}`,
    '',
  ]
}
