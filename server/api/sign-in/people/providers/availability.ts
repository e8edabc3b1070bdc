/** The providers that can be reached, for the pages that offer them. */
import type { SignInParts } from '../../parts.ts'
import type { Provider } from '../../provider.ts'
import type { ProviderFacts } from '../../relying-party.ts'
import { listProviders } from './providers.ts'

const PATIENCE_MS = 3_000

/** Returns why a provider cannot be used now, or undefined. Waits some seconds at most. */
export async function problemOf(
  { oidc }: Pick<SignInParts, 'oidc'>,
  provider: Provider,
): Promise<string | undefined> {
  if (!oidc) return 'sign-in with a provider is off in this process'
  if (provider.problem !== undefined) return provider.problem
  const late = Promise.withResolvers<string>()
  const timer = setTimeout(() => late.resolve('it does not answer'), PATIENCE_MS)
  const discovery = oidc.relyingParty.discover(provider).then(
    () => undefined,
    (error: Error) => describe(error),
  )
  return await Promise.race([discovery, late.promise]).finally(() => clearTimeout(timer))
}

/** Asks an issuer what it offers, or returns what is wrong with it. */
export async function inspectIssuer(
  { oidc }: Pick<SignInParts, 'oidc'>,
  issuer: string,
): Promise<ProviderFacts | { readonly problem: string }> {
  const problem = oidc
    ? oidc.refuseIssuer(issuer)
    : 'sign-in with a provider is off in this process'
  if (!oidc || problem !== undefined) return { problem: problem ?? '' }
  return await oidc.relyingParty
    .inspect(issuer)
    .catch((error: Error) => ({ problem: describe(error) }))
}

/** The library's message for an error that is not its own, such as a refused connection. */
const WRAPPING = 'something went wrong'

function describe({ message, cause }: Error): string {
  if (!(cause instanceof Error)) return message.slice(0, 300)
  const text = message === WRAPPING ? cause.message : `${message}: ${cause.message}`
  return text.slice(0, 300)
}

/** Lists the providers to offer: one that cannot be reached has no button. */
export async function listAvailable(parts: SignInParts): Promise<Provider[]> {
  const providers = await listProviders(parts)
  const problems = await Promise.all(providers.map((provider) => problemOf(parts, provider)))
  return providers.filter((_, index) => problems[index] === undefined)
}
