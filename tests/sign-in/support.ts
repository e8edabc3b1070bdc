/**
 * The console's API over real sockets, with a derivation that is quick and counted, and browsers
 * that keep cookies as browsers do.
 */
import { createHash } from 'node:crypto'
import type { Sql } from 'postgres'
import { createAdminEndpoints } from '../../server/api/admin/endpoints.ts'
import type { AdminServices } from '../../server/api/admin/services.ts'
import { openSignedUp } from '../../server/api/app/open-sign-in.ts'
import type { PlainEndpoint } from '../../server/api/endpoints/endpoint.ts'
import type { SignUpParts } from '../../server/api/sign-in/parts.ts'
import { createPerson, type NewPerson } from '../../server/api/sign-in/people/people.ts'
import { putMembership } from '../../server/api/sign-in/person-store.ts'
import { createSignIn, type SignIn, type SignInOptions } from '../../server/api/sign-in/sign-in.ts'
import { createListener } from '../../server/base/http/listener.ts'
import { createRoutes } from '../../server/base/http/router.ts'
import type { MemberRole } from '../../server/base/lib/member-roles.ts'
import { createSecretBox } from '../../server/base/lib/secrets/secrets.ts'
import { createAccount } from '../../server/money/accounts/manage-accounts.ts'
import { testMemory } from '../support/memory.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { startServer } from '../support/servers/local-server.ts'

export const PASSWORD = 'a river runs through 7 hills'

/** Settings of signing up: open to all, with a grant. */
export const SIGN_UP: SignUpParts = {
  isOpen: true,
  domains: [],
  terms: undefined,
  grant: { amountNanos: 5_000_000_000n, currency: 'USD', perNetwork: 1_000, perDay: 1_000 },
  openAccount: openSignedUp,
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: answers of any shape are looked into by tests.
  readonly json: any
}

export interface Browser {
  /** Sends what the console would: JSON, its own header, the cookies it has. */
  send(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>
  cookie(name: string): string | undefined
  setCookie(name: string, value: string): void
}

export interface ConsoleUnderTest {
  readonly url: string
  readonly sql: Sql
  readonly signIn: SignIn
  /** How many passwords were derived so far. */
  derivations(): number
  /** Moves the clock of authenticator apps. */
  setNowMs(nowMs: number | undefined): void
  browser(): Browser
  person(person?: Partial<NewPerson>): Promise<{ id: string; email: string }>
  account(name?: string): Promise<string>
  join(personId: string, accountId: string, role: MemberRole): Promise<void>
  /** A browser that is signed in as this person. */
  signedIn(email: string): Promise<Browser>
  stop(): Promise<void>
}

export async function startConsole(
  options: Partial<SignInOptions> = {},
): Promise<ConsoleUnderTest> {
  const database = await createTestDatabase()
  const { sql } = database
  let derivations = 0
  let nowMs: number | undefined
  let people = 0
  const secrets = createSecretBox(['a-secret-key-that-only-tests-would-ever-use'])
  const signIn = createSignIn({
    sql,
    secrets,
    baseUrl: () => url,
    isBaseUrlFixed: false,
    trustedProxies: [],
    operatorsNeedFactor: () => true,
    derive: async (password, salt) => {
      derivations += 1
      return createHash('sha256').update(salt).update(password).digest()
    },
    nowMs: () => nowMs ?? Date.now(),
    ...options,
  })
  const server = await startServer(createApi({ sql, secrets, signIn }))
  const url = server.url

  return {
    url,
    sql,
    signIn,
    derivations: () => derivations,
    setNowMs: (value) => {
      nowMs = value
    },
    browser: () => createBrowser(url),
    person(person = {}) {
      people += 1
      const email = `person${people}@example.com`
      return createPerson(signIn.parts, { email, name: 'Kim', password: PASSWORD, ...person })
    },
    account: async (name = 'Acme') => (await createAccount(sql, { name, actor: 'test' })).id,
    join: (personId, accountId, role) => putMembership(sql, { personId, accountId, role }),
    async signedIn(email) {
      const browser = createBrowser(url)
      const { status } = await browser.send('POST', '/session', { email, password: PASSWORD })
      if (status !== 200) throw new Error(`${email} could not sign in: ${status}`)
      return browser
    },
    async stop() {
      await server.stop()
      await database.drop()
    },
  }
}

/** The admin API alone; of its services, only those that signing in needs. */
function createApi(services: Pick<AdminServices, 'sql' | 'secrets' | 'signIn'>) {
  const endpoints = createAdminEndpoints(services as AdminServices)
  const match = createRoutes<PlainEndpoint>(
    endpoints.flatMap((endpoint) =>
      endpoint.paths.map((path) => ({ method: endpoint.method, path, target: endpoint })),
    ),
  )
  return createListener<PlainEndpoint>({
    match,
    memory: testMemory(),
    envelopeOf: (endpoint) => endpoint?.envelope ?? 'flat',
    run: (endpoint, context) => endpoint.handle(context, services as AdminServices),
    onDone(_context, error) {
      if (error?.status === 500) console.error(error.details.cause)
    },
  })
}

function createBrowser(url: string): Browser {
  const jar = new Map<string, string>()
  return {
    cookie: (name) => jar.get(name),
    setCookie: (name, value) => void jar.set(name, value),
    async send(method, path, body, headers) {
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
      const response = await fetch(`${url}/admin/v1${path}`, {
        method,
        redirect: 'manual',
        headers: {
          'x-tributary-console': '1',
          ...(cookie ? { cookie } : {}),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      for (const line of response.headers.getSetCookie()) keep(jar, line)
      const text = await response.text()
      const isPage = response.headers.get('content-type')?.startsWith('text/html')
      const json = text === '' || isPage ? undefined : JSON.parse(text)
      return { status: response.status, headers: response.headers, text, json }
    },
  }
}

function keep(jar: Map<string, string>, line: string): void {
  const [pair = ''] = line.split(';')
  const [name = '', value = ''] = pair.split('=')
  if (/Max-Age=0(;|$)/.test(line)) jar.delete(name)
  else jar.set(name, value)
}
