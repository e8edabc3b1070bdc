/** Wires sign-in to the configuration and to the start of the gateway. */
import type { Sql } from 'postgres'
import { type Config, localUrl } from '../config/config.ts'
import type { SecretBox } from '../lib/secrets/secrets.ts'
import type { DemoIdentity } from '../sign-in/parts.ts'
import { openSetUp } from '../sign-in/people/links.ts'
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
  offerSetUp(): Promise<string | undefined>
}

export function openSignIn(parts: {
  readonly config: Config
  readonly sql: Sql
  readonly secrets: SecretBox
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
    demo: () => readDemo(),
  })
  const signIn = { ...own, ...parts.sessions }
  return {
    signIn,
    markDemo(demo) {
      isDemo = true
      readDemo = demo
    },
    async offerSetUp() {
      if (config.role === 'worker') return undefined
      const setUpLink = await openSetUp(signIn.parts)
      if (setUpLink && config.log.level !== 'silent') {
        console.log(
          `Nobody can sign in yet. Become the operator, within a day:\n  ${setUpLink.link}\n`,
        )
      }
      return setUpLink?.link
    },
  }
}
