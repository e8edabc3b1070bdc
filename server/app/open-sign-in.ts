/** Wires signing in: what it takes from the configuration and from the start of the gateway. */
import type { Sql } from 'postgres'
import { type Config, localUrl } from '../config/config.ts'
import type { SecretBox } from '../lib/secrets/secrets.ts'
import { openSetUp } from '../sign-in/people/links.ts'
import type { Sessions } from '../sign-in/sessions/session.ts'
import { createSignIn, type SignIn } from '../sign-in/sign-in.ts'

export interface Door {
  readonly signIn: SignIn
  /** The demo's operator gets by with a password: it stands in a file, on this machine. */
  markDemo(): void
  /** While nobody can sign in, each start prints the link that makes the first operator. */
  offerSetUp(): Promise<string | undefined>
}

export function openSignIn(parts: {
  readonly config: Config
  readonly sql: Sql
  readonly secrets: SecretBox
  /** Stand in for people's own. */
  readonly sessions?: Sessions | undefined
  /** Where the gateway listens; asked only for requests and links. */
  readonly port: () => number
}): Door {
  const { config, sql, secrets } = parts
  let isDemo = false
  const real = createSignIn({
    sql,
    secrets,
    trustedProxies: config.trustedProxies,
    baseUrl: () => (config.isPublicUrlSet ? config.publicUrl : localUrl(config.host, parts.port())),
    isBaseUrlFixed: config.isPublicUrlSet,
    operatorsNeedFactor: () => config.operatorSecondFactor === 'required' && !isDemo,
  })
  const signIn = { ...real, ...parts.sessions }
  return {
    signIn,
    markDemo() {
      isDemo = true
    },
    async offerSetUp() {
      if (config.role === 'worker') return undefined
      const made = await openSetUp(signIn.parts)
      if (made && config.log.level !== 'silent') {
        console.log(`Nobody can sign in yet. Become the operator, within a day:\n  ${made.link}\n`)
      }
      return made?.link
    },
  }
}
