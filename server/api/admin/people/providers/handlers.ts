/** Signing in with OpenID Connect over HTTP. Pages for browsers are written here. */
import type { Context } from '../../../../base/http/context.ts'
import { sendBytes } from '../../../../base/http/reply.ts'
import type { GatewayError } from '../../../../base/lib/errors.ts'
import { OperatorError } from '../../../../base/lib/operator-error.ts'
import { judgeClaims, readRules } from '../../../sign-in/claim-rules.ts'
import type { SignInParts } from '../../../sign-in/parts.ts'
import {
  inspectIssuer,
  listAvailable,
  problemOf,
} from '../../../sign-in/people/providers/availability.ts'
import { listLinked, unlink } from '../../../sign-in/people/providers/linked.ts'
import {
  callbackOf,
  endSessionUrl,
  finishAtProvider,
  signedOutOf,
  startAtProvider,
  startInvitation,
} from '../../../sign-in/people/providers/provider-sign-in.ts'
import {
  type ProviderRow,
  selectProviders,
} from '../../../sign-in/people/providers/provider-store.ts'
import {
  changeProvider,
  createProvider,
  describeRow,
  removeProvider,
} from '../../../sign-in/people/providers/providers.ts'
import type { Provider } from '../../../sign-in/provider.ts'
import { RefusedAtProvider } from '../../../sign-in/provider-refusal.ts'
import { signOut } from '../../../sign-in/sessions/sessions.ts'
import type { HandlersOf } from '../../handler.ts'
import { withOperatorErrors } from '../../operator-failure.ts'
import { found } from '../../refusal.ts'
import type { providersContract } from './contract.ts'

export const providersHandlers: HandlersOf<typeof providersContract> = {
  async 'GET /sign-in/oidc'(_input, { signIn: { parts } }) {
    const data = (await listAvailable(parts)).map(({ id, name }) => ({ id, name }))
    return { data }
  },
  'GET /sign-in/oidc/callback': ({ context }, { signIn: { parts } }) =>
    redirect(parts, context, async () => {
      const path = await finishAtProvider(parts, context.query.toString(), context)
      return `${parts.consoleAddress.page(path)}`
    }),
  'GET /sign-in/oidc/:provider': ({ context, params, query }, { signIn: { parts } }) => {
    const start = {
      providerId: params.provider,
      intent: 'sign_in',
      returnTo: query.return_to,
      acceptsTerms: query.accept_terms,
    } as const
    return redirect(parts, context, () => startAtProvider(parts, start, context))
  },
  async 'POST /session/invitation/oidc'({ body, context }, { signIn: { parts } }) {
    const { token, provider: providerId } = body
    return { location: await startInvitation(parts, { token, providerId }, context) }
  },
  async 'POST /session/step-up/oidc'({ body, context, session }, { signIn: { parts } }) {
    const { provider: providerId, return_to: returnTo } = body
    const start = { providerId, intent: 'step_up', session, returnTo } as const
    return { location: await startAtProvider(parts, start, context) }
  },
  async 'POST /session/end'({ session, context }, { signIn: { parts } }) {
    const location = await endSessionUrl(parts, session.sessionId)
    await signOut(parts, session, context)
    return { location: location ?? null }
  },
  async 'GET /profile/identities'({ session }, { signIn: { parts } }) {
    return { data: await listLinked(parts, session.user.id) }
  },
  async 'POST /profile/identities'({ body, session, context, note }, { signIn: { parts } }) {
    note({ provider: body.provider })
    const start = { providerId: body.provider, intent: 'link', session } as const
    return { location: await startAtProvider(parts, start, context) }
  },
  'DELETE /profile/identities/:provider': ({ params, session, context }, { signIn: { parts } }) =>
    unlink(parts, session, params.provider, context),
  async 'GET /operator/sign-in-providers'(_input, { sql, signIn: { parts } }) {
    const own = parts.oidc?.provider
    const rows = await selectProviders(sql)
    const stored = rows.map((row) => showStored(parts, row))
    return {
      data: await Promise.all([...(own ? [showOwn(parts, own)] : []), ...stored]),
      callback_url: callbackOf(parts),
      signed_out_url: signedOutOf(parts),
    }
  },
  async 'POST /operator/sign-in-providers'({ body, note }, { signIn: { parts } }) {
    const { client_id: clientId, client_secret: clientSecret, trusts_email: trustsEmail } = body
    const draft = { ...body, clientId, clientSecret: clientSecret ?? null, trustsEmail }
    const row = await withOperatorErrors(createProvider(parts, draft))
    note({ provider: row.id, name: row.name, issuer: row.issuer })
    return await showStored(parts, row)
  },
  async 'PATCH /operator/sign-in-providers/:provider'({ body, params, note }, services) {
    const { parts } = services.signIn
    const { client_secret: clientSecret, ...shown } = body
    note({ ...shown, ...(clientSecret === undefined ? {} : { client_secret: 'changed' }) })
    const changing = changeProvider(parts, params.provider, {
      name: body.name,
      issuer: body.issuer,
      clientId: body.client_id,
      clientSecret,
      scopes: body.scopes,
      rules: body.rules,
      trustsEmail: body.trusts_email,
      disabled: body.disabled,
    })
    return await showStored(parts, found(await withOperatorErrors(changing), 'provider'))
  },
  async 'DELETE /operator/sign-in-providers/:provider'({ params }, { sql }) {
    if (!(await removeProvider(sql, params.provider))) found(undefined, 'provider')
  },
  async 'POST /operator/sign-in-providers/discover'({ body }, { signIn: { parts } }) {
    const found = await inspectIssuer(parts, body.issuer)
    const isFound = !('problem' in found)
    return {
      problem: isFound ? null : found.problem,
      authorization_endpoint: (isFound && found.authorizationEndpoint) || null,
      scopes: isFound ? [...found.scopes] : [],
      algorithms: isFound ? [...found.algorithms] : [],
      ends_sessions: isFound && found.endsSessions,
    }
  },
  async 'POST /operator/sign-in-providers/try'({ body }) {
    const rules = readRules(body.rules)
    if ('problem' in rules) {
      return await withOperatorErrors(Promise.reject(new OperatorError(`rules: ${rules.problem}`)))
    }
    const { operator, accounts, role } = judgeClaims(rules, body.claims)
    return { operator, accounts: [...accounts], role: accounts.length > 0 ? role : null }
  },
}

async function showOwn(parts: SignInParts, provider: Provider) {
  const problem = (await problemOf(parts, provider)) ?? null
  return { ...describe(provider), disabled: false, from_environment: true, problem }
}

async function showStored(parts: SignInParts, row: ProviderRow) {
  const provider = describeRow(row, parts.secrets)
  const disabled = row.disabled_at !== null
  const problem = disabled ? null : ((await problemOf(parts, provider)) ?? null)
  return { ...describe(provider), disabled, from_environment: false, problem }
}

function describe(provider: Provider) {
  const { id, name, issuer, scopes, clientId, clientSecret, trustsEmail } = provider
  return {
    id,
    name,
    issuer,
    client_id: clientId,
    has_secret: clientSecret !== undefined,
    scopes,
    rules: provider.rules.map((rule) => ({ ...rule })),
    trusts_email: trustsEmail,
  }
}

/**
 * Redirects the browser, or sends a page that says why it was refused, with a link to the console.
 */
async function redirect(
  parts: SignInParts,
  context: Context,
  next: () => Promise<string>,
): Promise<void> {
  try {
    const location = await next()
    sendBytes(context, 303, { ...PRIVATE, location }, Buffer.alloc(0))
  } catch (error) {
    if (!(error instanceof RefusedAtProvider)) throw error
    const { reason, returnTo = '/' } = error
    const next = returnTo === '/' ? '' : `?next=${encodeURIComponent(returnTo)}`
    const target = parts.consoleAddress.page(`/sign-in${next}#refused=${reason}`)
    const headers = { ...PRIVATE, 'content-type': 'text/html; charset=utf-8' }
    sendBytes(context, error.status, headers, Buffer.from(page(error, target)))
  }
}

const PRIVATE = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
}

/** Both texts are the gateway's own. */
function page({ message }: GatewayError, target: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Tributary</title>
<meta http-equiv="refresh" content="0;url=${target}">
<p>${message}.</p><p><a href="${target}">Tributary</a></p></html>
`
}
