/** Wires sign-in to the configuration and to the start of the gateway. */
import cluster from 'node:cluster'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { newId } from '../../base/lib/ids.ts'
import type { Log } from '../../base/lib/log.ts'
import { makePrivateFolder } from '../../base/lib/secrets/private-files.ts'
import type { SecretBox } from '../../base/lib/secrets/secrets.ts'
import type { Guard } from '../../base/outbound/guard.ts'
import { openAccount } from '../../money/accounts/manage-accounts.ts'
import { postCredit } from '../../money/ledger/store.ts'
import { enqueueLink } from '../../work/alerts/mail/link-mail.ts'
import { type Config, localUrl } from '../config/config.ts'
import { NO_WAY_TO_SIGN_UP } from '../config/sign-in-variables.ts'
import { judgeIssuer } from '../sign-in/issuer.ts'
import type { DemoIdentity, OidcParts, SignUpParts } from '../sign-in/parts.ts'
import { openSetUp } from '../sign-in/people/links.ts'
import { listProviders } from '../sign-in/people/providers/providers.ts'
import { DEFAULT_SCOPES, ENVIRONMENT_PROVIDER } from '../sign-in/provider.ts'
import { createRelyingParty } from '../sign-in/relying-party.ts'
import type { Sessions } from '../sign-in/sessions/session.ts'
import { createSignIn, type SignIn } from '../sign-in/sign-in.ts'

export interface OpenedSignIn {
  readonly signIn: SignIn
  /**
   * Lifts the second factor for the demo's operator, whose password is in a file on this machine.
   * `demo` returns undefined once there are channels of other upstreams.
   */
  markDemo(demo: () => DemoIdentity | undefined): void
  /** Resolves to the link that creates the first operator, while nobody can sign in. */
  offerSetUp(log: Log): Promise<string | undefined>
  /** Warns where people may sign up, and nothing could confirm their addresses. */
  judgeSignUp(log: Log): Promise<void>
}

export function openSignIn(parts: {
  readonly config: Config
  readonly sql: Sql
  readonly secrets: SecretBox
  /** Guards requests to sign-in providers; absent on the command line. */
  readonly guard?: Guard
  /** Replaces people's sessions in tests. */
  readonly sessions?: Sessions | undefined
  /** Returns the port the gateway listens on; called only for requests and links. */
  readonly port: () => number
}): OpenedSignIn {
  const { config, sql, secrets } = parts
  let isDemo = false
  let readDemo: () => DemoIdentity | undefined = () => undefined
  const own = createSignIn({
    sql,
    secrets,
    trustedProxies: config.trustedProxies,
    baseUrl: () => (config.isPublicUrlSet ? config.publicUrl : localUrl(config.host, parts.port())),
    isBaseUrlFixed: config.isPublicUrlSet,
    operatorsNeedFactor: () => config.operatorSecondFactor === 'required' && !isDemo,
    ...(parts.guard ? { oidc: openOidc(config, parts.guard) } : {}),
    signUp: { ...config.signUp, openAccount: openSignedUp },
    ...(config.mail ? { mailLink: (on, mail) => enqueueLink(on, secrets, mail) } : {}),
    demo: () => readDemo(),
  })
  const signIn = { ...own, ...parts.sessions }
  return {
    signIn,
    markDemo(demo) {
      isDemo = true
      readDemo = demo
    },
    async offerSetUp(log) {
      if (!isFirst(config)) return undefined
      const setUpLink = await openSetUp(signIn.parts)
      if (setUpLink && config.log.format === 'json') {
        // Lines of JSON are collected, and the link is a credential.
        const path = join(config.dataDir, 'setup-link')
        makePrivateFolder(config.dataDir)
        writeFileSync(path, `${setUpLink.link}\n`, { mode: 0o600 })
        log.warn({}, `nobody can sign in yet: the link for the first operator is in ${path}`)
      } else if (setUpLink && config.log.level !== 'silent') {
        console.log(
          `Nobody can sign in yet. Become the operator, within a day:\n  ${setUpLink.link}\n`,
        )
      }
      return setUpLink?.link
    },
    async judgeSignUp(log) {
      const isOpen = config.signUp.isOpen && config.mail === undefined
      if (!isOpen || !isFirst(config)) return
      if ((await listProviders(signIn.parts)).length === 0) log.warn({}, NO_WAY_TO_SIGN_UP)
    },
  }
}

/** Of several workers on one port, one speaks for all. */
function isFirst({ role }: Config): boolean {
  return role !== 'worker' && (!cluster.isWorker || cluster.worker?.id === 1)
}

/** Opens the account of a sign-up, with its grant. */
export const openSignedUp: SignUpParts['openAccount'] = async (transaction, signedUp) => {
  const { name, currency, grantNanos, eventId } = signedUp
  const actor = 'sign-up'
  const accountId = await openAccount(transaction, { name, currency, actor })
  if (grantNanos === 0n) return accountId
  const credit = { id: newId('cred'), accountId, kind: 'promotion', reason: actor, actor } as const
  await postCredit(transaction, { ...credit, amountNanos: grantNanos, eventId })
  return accountId
}

function openOidc({ oidc, allowPrivateTargets }: Config, guard: Guard): OidcParts {
  return {
    relyingParty: createRelyingParty({ guard, nowMs: () => performance.now() }),
    provider: oidc && {
      ...oidc,
      id: ENVIRONMENT_PROVIDER,
      name: new URL(oidc.issuer).hostname,
      scopes: DEFAULT_SCOPES,
    },
    refuseIssuer: (issuer) => judgeIssuer(issuer, allowPrivateTargets),
  }
}
