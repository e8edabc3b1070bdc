/** A console with one provider, for tests of signing in there. */
import assert from 'node:assert/strict'
import { after, before, beforeEach } from 'node:test'
import { type RoleRule, readRules } from '../../../server/api/sign-in/claim-rules.ts'
import { judgeIssuer } from '../../../server/api/sign-in/issuer.ts'
import type { SignUpParts } from '../../../server/api/sign-in/parts.ts'
import { ENVIRONMENT_PROVIDER, type Provider } from '../../../server/api/sign-in/provider.ts'
import { createRelyingParty } from '../../../server/api/sign-in/relying-party.ts'
import { createGuard } from '../../../server/base/outbound/guard.ts'
import { type Browser, type ConsoleUnderTest, SIGN_UP, startConsole } from '../support.ts'
import { type LyingProvider, startLyingProvider } from './lying-provider.ts'

interface Settings {
  isSignUpOpen: boolean
  trustsEmail: boolean
  terms: string | undefined
  domains: readonly string[]
}

const CLOSED: Settings = { isSignUpOpen: false, trustsEmail: false, terms: undefined, domains: [] }

/** Settings of signing up that change with a test's. */
function followSettings(settings: Settings): SignUpParts {
  return {
    ...SIGN_UP,
    get isOpen() {
      return settings.isSignUpOpen
    },
    get terms() {
      return settings.terms
    },
    get domains() {
      return settings.domains
    },
  }
}

/** Opens the console for the tests of one file. */
export function openStage() {
  let console: ConsoleUnderTest
  let provider: LyingProvider
  let rules: readonly RoleRule[] = []
  /** Settings of the gateway and of its provider, as they are at a test's begin. */
  const settings: Settings = { ...CLOSED }

  before(async () => {
    provider = await startLyingProvider()
    const policy = () => ({ allowance: 'private' as const, ports: new Set<number>() })
    const relyingParty = createRelyingParty({
      guard: createGuard({ policy }),
      nowMs: () => performance.now(),
    })
    const own = (): Provider => ({
      id: ENVIRONMENT_PROVIDER,
      name: 'Acme',
      issuer: provider.issuer,
      clientId: 'tributary',
      clientSecret: 'client secret: 50% &',
      scopes: 'openid email profile',
      rules,
      trustsEmail: settings.trustsEmail,
    })
    console = await startConsole({
      oidc: {
        relyingParty,
        get provider() {
          return own()
        },
        refuseIssuer: (issuer) => judgeIssuer(issuer, true),
      },
      signUp: followSettings(settings),
    })
  })
  after(async () => {
    await console.stop()
    await provider.stop()
  })
  beforeEach(() => {
    provider.lies = {}
    rules = []
    Object.assign(settings, CLOSED)
  })

  const ruled = (value: unknown) => {
    const read = readRules(value)
    if ('problem' in read) throw new Error(read.problem)
    rules = read
  }

  const at = () => ({ console, provider })
  return {
    ...flowsOf(at),
    get console() {
      return console
    },
    get provider() {
      return provider
    },
    settings,
    ruled,
    START,
  }
}

const START = `/sign-in/oidc/${ENVIRONMENT_PROVIDER}`

type At = () => { readonly console: ConsoleUnderTest; readonly provider: LyingProvider }

/** Steps that browsers take at the provider and back. */
function flowsOf(at: At) {
  let subjects = 0
  /** StatedClaims of a person whom no other test knows. */
  const somebody = (more: object = {}) => {
    subjects += 1
    return { sub: `sub-${subjects}`, email: `ada${subjects}@acme.example`, ...more }
  }

  async function start(browser: Browser, path = START): Promise<string> {
    const { status, headers } = await browser.send('GET', path)
    assert.equal(status, 303)
    return headers.get('location') ?? ''
  }

  /** Goes to the provider and comes back. Returns status, reason of a refusal, and where to. */
  async function goThrough(browser: Browser, claims: object = {}) {
    const back = at().provider.signIn(await start(browser), { ...claims })
    return await comeBack(browser, back)
  }

  async function comeBack(browser: Browser, back: string) {
    const { status, headers, text } = await browser.send('GET', `/sign-in/oidc/callback${back}`)
    const [row] = await at().console.sql<{ details: { reason?: string; cause?: string } }[]>`
      select details from audit_log where action = 'sign-in at provider failed'
      order by id desc limit 1`
    const reason = status === 303 ? 'signed in' : row?.details.reason
    const location = headers.get('location')
    return { status, reason, cause: row?.details.cause, location, text }
  }

  async function operator(): Promise<Browser> {
    const { id, email } = await at().console.person({ isOperator: true })
    const browser = await at().console.signedIn(email)
    await at().console.sql`insert into passkey (id, person_id, name, credential_id, public_key)
      values (${`pky_${id}`}, ${id}, 'x', ${id}, 'x')`
    return browser
  }

  const sessionOf = async (browser: Browser) => (await browser.send('GET', '/session')).json
  const isSignedIn = async (browser: Browser) =>
    (await browser.send('GET', '/session')).status === 200

  return { somebody, start, goThrough, comeBack, operator, sessionOf, isSignedIn }
}
