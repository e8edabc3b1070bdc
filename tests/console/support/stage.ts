/** A gateway with its console, a browser, and people who are signed in. */
import assert from 'node:assert/strict'
import type { Browser } from 'playwright-core'
import { writeAudit } from '../../../server/api/sign-in/audit-log/audit-log.ts'
import { createPasswords, type Passwords } from '../../../server/api/sign-in/password-hashes.ts'
import { createPerson } from '../../../server/api/sign-in/people/people.ts'
import { putMembership } from '../../../server/api/sign-in/person-store.ts'
import { insertSession } from '../../../server/api/sign-in/sessions/session-store.ts'
import { createToken } from '../../../server/api/sign-in/sessions/token.ts'
import { newId } from '../../../server/base/lib/ids.ts'
import type { MemberRole } from '../../../server/base/lib/member-roles.ts'
import { launchBrowser } from '../../support/browser.ts'
import {
  type GatewayPlace,
  type GatewayProcess,
  type RunningGateway,
  type Stage,
  type StageOptions,
  startGateway,
  startStageOf,
} from '../../support/gateway.ts'
import { serveHere } from '../../support/servers/serve-here.ts'
import { type Look, openPage, type WatchedPage } from './browser.ts'
import { ensureConsole } from './build.ts'

export const PASSWORD = 'a river runs through 7 hills'

export interface Role {
  readonly operator?: boolean
  /** The role in the stage's account, or in `accountId`. */
  readonly role?: MemberRole
  readonly accountId?: string
}

export interface Person {
  readonly id: string
  readonly email: string
}

export interface ConsoleStage<Running extends RunningGateway = RunningGateway>
  extends Stage<Running> {
  /** The address of the console, without a final `/`. */
  readonly console: string
  readonly browser: Browser
  createPerson(role?: Role): Promise<Person>
  /** Opens a page in a browser of its own, signed in, at `path` below /console. */
  signedIn(path: string, role?: Role, look?: Look): Promise<WatchedPage>
}

/** All people have one password, hashed once for a process: that takes a fifth of a second. */
let hashed: Promise<string> | undefined
const passwords = createPasswords()
const sharedHash: Passwords = {
  ...passwords,
  hash(password) {
    assert.equal(password, PASSWORD)
    hashed ??= passwords.hash(password)
    return hashed
  },
}

/** Everything that a journey needs. Operators get by with a password, as in demo mode. */
export function startConsoleStage(options: StageOptions = {}): Promise<ConsoleStage> {
  return startConsoleStageOf(serveHere, options)
}

/** The same with a gateway that can be stopped, and whose log can be read. */
export function startConsoleProcess(
  options: StageOptions = {},
): Promise<ConsoleStage<GatewayProcess>> {
  return startConsoleStageOf(startGateway, options)
}

async function startConsoleStageOf<Running extends RunningGateway>(
  start: (place: GatewayPlace) => Promise<Running>,
  options: StageOptions,
): Promise<ConsoleStage<Running>> {
  await ensureConsole()
  const env = { OPERATOR_SECOND_FACTOR: 'optional', ...options.env }
  const stage = await startStageOf(start, { ...options, env })
  const browser = await launchBrowser()
  let people = 0

  async function makePerson(
    { operator = false, ...of }: Role = {},
    language: 'en' | 'zh' = 'en',
  ): Promise<Person> {
    people += 1
    const email = `person${people}@example.com`
    const person = await createPerson(
      { sql: stage.sql, passwords: sharedHash },
      { email, name: `Kim ${people}`, password: PASSWORD, isOperator: operator, language },
    )
    const { role = operator ? undefined : 'owner', accountId = stage.account.id } = of
    if (role) await putMembership(stage.sql, { personId: person.id, accountId, role })
    return { id: person.id, email }
  }

  /** A session as after a sign-in, without its password, which costs a fifth of a second. */
  async function signIn({ page, context }: WatchedPage, personId: string): Promise<void> {
    const { token, tokenHash } = createToken()
    const id = newId('ses')
    const ip = '127.0.0.1'
    await insertSession(stage.sql, {
      id,
      personId,
      tokenHash,
      steppedUpSeconds: 600,
      ip,
      userAgent: await page.evaluate<string>('navigator.userAgent'),
    })
    const details = { proof: 'password' }
    await writeAudit(stage.sql, { actor: personId, ip, action: 'sign-in', target: id, details })
    await context.addCookies([{ name: 'tributary_session', value: token, url: stage.url }])
  }

  return {
    ...stage,
    console: `${stage.url}/console`,
    browser,
    createPerson: (role) => makePerson(role),
    async signedIn(path, role = {}, look = {}) {
      // A person's choice takes precedence over the browser's language.
      const { id } = await makePerson(role, look.locale === 'zh-CN' ? 'zh' : 'en')
      const watched = await openPage(browser, look)
      await signIn(watched, id)
      await watched.page.goto(`${stage.url}/console${path}`)
      return watched
    },
    async stop() {
      await browser.close()
      await stage.stop()
    },
  }
}
