/** A gateway with its console, a browser, and people who are signed in. */
import type { Browser } from 'playwright-core'
import { createPasswords } from '../../../server/sign-in/password-hashes.ts'
import { createPerson } from '../../../server/sign-in/people/people.ts'
import { putMembership } from '../../../server/sign-in/person-store.ts'
import { launchBrowser } from '../../support/browser.ts'
import { type Stage, type StageOptions, startStage } from '../../support/gateway.ts'
import { type Look, openPage, type WatchedPage } from './browser.ts'
import { ensureConsole } from './build.ts'

export const PASSWORD = 'a river runs through 7 hills'

export interface Role {
  readonly operator?: boolean
  /** The role in the stage's account, or in `accountId`. */
  readonly role?: 'owner' | 'member'
  readonly accountId?: string
}

export interface Person {
  readonly email: string
}

export interface ConsoleStage extends Stage {
  /** The address of the console, without a final `/`. */
  readonly console: string
  readonly browser: Browser
  createPerson(role?: Role): Promise<Person>
  /** Opens a page in a browser of its own, signed in, at `path` below /console. */
  signedIn(path: string, role?: Role, look?: Look): Promise<WatchedPage>
}

/** Everything that a journey needs. Operators get by with a password, as in demo mode. */
export async function startConsoleStage(options: StageOptions = {}): Promise<ConsoleStage> {
  await ensureConsole()
  const env = { OPERATOR_SECOND_FACTOR: 'optional', ...options.env }
  const stage = await startStage({ ...options, env })
  const browser = await launchBrowser()
  const passwords = createPasswords()
  let people = 0

  async function makePerson(
    { operator = false, ...of }: Role = {},
    language: 'en' | 'zh' = 'en',
  ): Promise<Person> {
    people += 1
    const email = `person${people}@example.com`
    const person = await createPerson(
      { sql: stage.sql, passwords },
      { email, name: `Kim ${people}`, password: PASSWORD, isOperator: operator, language },
    )
    const { role = operator ? undefined : 'owner', accountId = stage.account.id } = of
    if (role) await putMembership(stage.sql, { personId: person.id, accountId, role })
    return { email }
  }

  return {
    ...stage,
    console: `${stage.url}/console`,
    browser,
    createPerson: (role) => makePerson(role),
    async signedIn(path, role = {}, look = {}) {
      // A person's choice takes precedence over the browser's language.
      const { email } = await makePerson(role, look.locale === 'zh-CN' ? 'zh' : 'en')
      const watched = await openPage(browser, look)
      const answer = await watched.context.request.post(`${stage.url}/admin/v1/session`, {
        headers: { 'x-tributary-console': '1' },
        data: { email, password: PASSWORD },
      })
      if (!answer.ok()) throw new Error(`${email} could not sign in: ${await answer.text()}`)
      await watched.page.goto(`${stage.url}/console${path}`)
      return watched
    },
    async stop() {
      await browser.close()
      await stage.stop()
    },
  }
}
