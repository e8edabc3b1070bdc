/**
 * A certified OpenID Connect provider on loopback, with pages of its own: whoever types a name
 * signs in as that person.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
// @ts-expect-error The package ships no types.
import OidcProvider from 'oidc-provider'
import { readBody, startServer } from './local-server.ts'

interface Context {
  readonly oidc: {
    readonly provider: Provider
    readonly client?: { readonly clientId: string }
    readonly session?: { readonly accountId?: string }
  }
  body: string
}

/** The part of the package that is used here. */
interface Provider {
  readonly Grant: new (of: {
    readonly accountId: string
    readonly clientId: string
  }) => { addOIDCScope(scope: string): void; save(): Promise<string> }
  callback(): RequestListener
  interactionFinished(
    request: IncomingMessage,
    response: ServerResponse,
    result: object,
  ): Promise<void>
}
const Provider: new (issuer: string, configuration: object) => Provider = OidcProvider

export interface IdentityProvider {
  readonly issuer: string
  readonly port: number
  /** What it states of a person, by the name that they typed. */
  readonly people: Map<string, Readonly<Record<string, unknown>>>
  /** Allows these addresses to come back to, and to sign out to. */
  open(redirectUri: string, signedOutUri: string): void
  stop(): Promise<void>
}

export const CLIENT = { id: 'tributary', secret: 'a secret: 50% & more' } as const

export async function startIdentityProvider(): Promise<IdentityProvider> {
  const people: IdentityProvider['people'] = new Map()
  let serve: RequestListener = (_, response) => void response.writeHead(503).end()
  const server = await startServer((request, response) => serve(request, response))
  // Another site than the gateway's, as it is in a company: browsers tell ports of one host apart
  // neither for cookies nor for sites.
  const issuer = `http://localhost:${server.port}`
  return {
    issuer,
    port: server.port,
    people,
    open(redirectUri, signedOutUri) {
      const provider = new Provider(issuer, configure(people, redirectUri, signedOutUri))
      const answer = provider.callback()
      serve = (request, response) =>
        request.url?.startsWith('/interaction/')
          ? interact(provider, request, response)
          : answer(request, response)
    },
    stop: () => server.stop(),
  }
}

function configure(people: IdentityProvider['people'], redirectUri: string, signedOutUri: string) {
  const client = {
    client_id: CLIENT.id,
    client_secret: CLIENT.secret,
    redirect_uris: [redirectUri],
    post_logout_redirect_uris: [signedOutUri],
  }
  return {
    clients: [client],
    claims: { openid: ['sub', 'groups'], email: ['email', 'email_verified'], profile: ['name'] },
    pkce: { required: () => true },
    cookies: { keys: ['keys of a test'] },
    interactions: { url: (_: Context, { uid }: { uid: string }) => `/interaction/${uid}` },
    renderError(context: Context, out: object) {
      context.body = page('Refused', JSON.stringify(out))
    },
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (context: Context, form: string) => {
          const act = '<button form="op.logoutForm" name="logout" value="yes">Yes, leave</button>'
          context.body = page('Leave the company?', `${form}${act}`)
        },
      },
    },
    findAccount: (_: Context, sub: string) => ({
      accountId: sub,
      claims: () => ({ sub, name: sub, ...people.get(sub) }),
    }),
    async loadExistingGrant(context: Context) {
      const { client: asking, session, provider } = context.oidc
      const of = { accountId: session?.accountId ?? '', clientId: asking?.clientId ?? '' }
      const grant = new provider.Grant(of)
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
  }
}

async function interact(provider: Provider, request: IncomingMessage, response: ServerResponse) {
  if (request.method === 'POST') {
    const accountId = new URLSearchParams(await readBody(request)).get('who') ?? ''
    await provider.interactionFinished(request, response, { login: { accountId, amr: ['pwd'] } })
    return
  }
  const form =
    '<form method="post"><label>Who are you? <input name="who"></label><button>Enter</button></form>'
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
  response.end(page('Acme’s door', form))
}

function page(title: string, content: string): string {
  return `<!doctype html><html lang="en"><title>${title}</title><h1>${title}</h1>${content}</html>`
}
